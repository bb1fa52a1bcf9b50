"""Keys for experiment trackers: where a run's numbers are also written."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.config.fields import opt


@dataclass(slots=True)
class TrackingConfig:
    """Experiment trackers that listen to a run; none by default. A tracker never harms or slows a run."""

    trackers: list[str] = opt(
        list, "Trackers by name: `mlflow`, `wandb`, `tensorboard`; each needs the extra of its name.", free=True
    )
    project: str = opt("reflact", "Experiment (MLflow) or project (Weights & Biases) that runs belong to.", free=True)
    folder: str = opt(
        "",
        "Folder of local stores, which runs may share; empty: `trackers` in the run directory.",
        free=True,
        path=True,
    )
    mlflow_uri: str = opt("", "MLflow's server or database; empty: an SQLite file in the folder.", free=True)
    wandb_mode: str = opt(
        "offline",
        "Weights & Biases: `offline` writes files for `wandb sync`, `online` sends numbers and skills to the service.",
        choices=("offline", "online"),
        free=True,
    )
    wandb_entity: str = opt("", "Weights & Biases: the team; empty: the account's own.", free=True)
    close_timeout_s: float = opt(
        30.0, "Seconds that a tracker has to finish after the run, before it is ended.", low=0, free=True
    )
