"""Weights & Biases, offline unless asked otherwise. Needs the extra `wandb`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.trackers.protocol import Begin, End, remember, remembered


class WeightsAndBiases:
    """One of its runs a run; a resumed run goes on under the same id."""

    def begin(self, begin: Begin) -> None:
        """Make a run, or go on."""
        folder = Path(begin.folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("CACHE", "CONFIG", "DATA"):  # read when it is imported
            os.environ.setdefault(f"WANDB_{name}_DIR", str(Path(begin.memory) / "cache"))
        import wandb

        run_id = remembered(begin, "wandb_id") or secrets.token_hex(4)
        remember(begin, "wandb_id", run_id)
        settings = wandb.Settings(
            mode=begin.settings["wandb_mode"],
            root_dir=str(folder),
            silent=True,
            console="off",
            disable_git=True,
            disable_code=True,
            x_disable_stats=True,
        )
        self._run: Any = wandb.init(
            project=begin.project,
            entity=begin.settings["wandb_entity"] or None,
            id=run_id,
            name=begin.run_id,
            tags=[value for name, value in begin.tags.items() if name in ("benchmark", "harness") and value],
            config=dict(begin.params),
            resume="allow",
            settings=settings,
        )
        # Its own counter only goes up, and a resumed run tells of a step again.
        self._run.define_metric("*", step_metric="step")

    def metrics(self, values: Mapping[str, float], step: int, at: float) -> None:
        """Log numbers."""
        self._run.log({**values, "step": step})

    def end(self, end: End) -> None:
        """Close the run."""
        import wandb

        for name, value in end.summary.items():
            self._run.summary[name] = value
        self._run.summary["ended"] = end.cause or end.state
        for file in end.files:
            artifact = wandb.Artifact(f"skill-{self._run.id}", type="skill")
            artifact.add_file(file)
            self._run.log_artifact(artifact)
        self._run.finish(exit_code=0 if end.state == "done" else 1)
