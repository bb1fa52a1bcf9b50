"""The sweeper behind `hydra/sweeper=reflact`; the work is in `reflact.sweep`.

Hydra runs this module before it enters it into `sys.modules`, where dataclasses would look up annotations that are
strings: so there is no `from __future__ import annotations` here.
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class ReflactSweeperConf:
    """Options of the sweeper; as for Hydra's basic one."""

    _target_: str = "hydra_plugins.reflact_sweeper.sweeper.ReflactSweeper"
    max_batch_size: int | None = None
    params: dict[str, str] | None = field(default_factory=dict)


ConfigStore.instance().store(group="hydra/sweeper", name="reflact", node=ReflactSweeperConf, provider="reflact")


class ReflactSweeper(BasicSweeper):
    """Hydra's grids and our plans, every run checked before the first one starts and in a process of its own."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Prepare; the launcher gets a task that takes runs from a queue in the place of the command's own."""
        from reflact.sweep.task import LaunchTask

        self._task = LaunchTask()
        super().setup(hydra_context=hydra_context, task_function=self._task, config=config)

    def sweep(self, arguments: list[str]) -> Any:
        """Run the sweep and return the runs' scores."""
        from reflact.core.errors import ReflactError
        from reflact.sweep.callback import EVALUATION
        from reflact.sweep.sweep import Sweep

        assert self.config is not None and self.hydra_context is not None and self.launcher is not None
        command = "evaluate" if self.config.hydra.job.name == EVALUATION else "train"
        whole = [*self._parse_config(), *arguments]
        try:
            sweep = Sweep(self.config, whole, self.hydra_context.config_loader, command)
            return sweep.run(self.launcher, self._task, self.max_batch_size)
        except ReflactError as error:
            sys.stderr.write(f"reflact: {error}\n")
            raise SystemExit(int(error.exit_code)) from None
