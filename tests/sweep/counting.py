"""A Hydra callback that counts what was composed for a job: a line in a file for each job that a launcher began."""

from __future__ import annotations

from typing import Any

from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig


class CountJobs(Callback):
    """Appends to `path`.

    Args:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def on_job_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Count a job of a sweep; the run's own process is another command."""
        if config.hydra.mode is RunMode.MULTIRUN:
            with open(self._path, "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(f"{config.hydra.job.num}\n")
