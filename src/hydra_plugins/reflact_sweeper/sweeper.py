"""The sweeper behind `hydra/sweeper=reflact`; the work is in `reflact.sweep`.

Hydra runs this module before it enters it into `sys.modules`, where dataclasses would look up annotations that are
strings: so there is no `from __future__ import annotations` here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore


@dataclass
class ReflactSweeperConf:
    """Options of the sweeper; as for Hydra's basic one."""

    _target_: str = "hydra_plugins.reflact_sweeper.sweeper.ReflactSweeper"
    max_batch_size: int | None = None
    params: dict[str, str] | None = field(default_factory=dict)


ConfigStore.instance().store(group="hydra/sweeper", name="reflact", node=ReflactSweeperConf, provider="reflact")


class ReflactSweeper(BasicSweeper):
    """Hydra's grid, with every job checked, named and given a free directory before the first one starts."""

    def sweep(self, arguments: list[str]) -> Any:
        """Run the sweep."""
        from reflact.sweep.jobs import prepare

        assert self.config is not None and self.hydra_context is not None
        self._extra = prepare(self.config, [*self._parse_config(), *arguments], self.hydra_context.config_loader)
        self._given = 0
        return super().sweep(arguments)

    def get_job_batch(self) -> Sequence[Sequence[str]]:
        """Return the next jobs with the overrides that name their directories."""
        batch = super().get_job_batch()
        extra = self._extra[self._given : self._given + len(batch)]
        self._given += len(batch)
        return [[*job, *more] for job, more in zip(batch, extra, strict=True)]
