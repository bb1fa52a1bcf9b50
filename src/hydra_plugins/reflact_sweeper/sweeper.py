"""The sweeper behind `hydra/sweeper=reflact`; the work is in `reflact.sweep`.

Hydra runs this module before it enters it into `sys.modules`, where dataclasses would look up annotations that are
strings: so there is no `from __future__ import annotations` here.
"""

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
        """Run the sweep and return what its jobs returned, in batches."""
        from reflact.sweep.jobs import finish, prepare, record

        assert self.config is not None and self.hydra_context is not None and self.launcher is not None
        jobs = prepare(self.config, [*self._parse_config(), *arguments], self.hydra_context.config_loader)
        record(self.config)
        batches: list[Any] = []
        begun = 0
        for batch in self.split_overrides_to_chunks(jobs, self.max_batch_size):
            batches.append(self.launcher.launch(batch, initial_job_idx=begun))
            begun += len(batch)
        finish([job for batch in batches for job in batch])
        return batches
