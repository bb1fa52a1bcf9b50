"""The record of what Hydra composed: `.hydra/` in a run's directory."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from reflact.rundir.atomic import write_text


def write_record(whole: DictConfig, folder: Path) -> None:
    """Write the files that Hydra would write, but each as a whole or not at all.

    Args:
        whole: The composed configuration, with the node `hydra`.
        folder: Where they go.

    Raises:
        OSError: A file could not be written; it is named.
    """
    job = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
    hydra = OmegaConf.masked_copy(whole, "hydra")
    for name, content in (("config", job), ("hydra", hydra), ("overrides", whole.hydra.overrides.task)):
        write_text(folder / f"{name}.yaml", OmegaConf.to_yaml(content))
