"""What Hydra's config store must hold: the schema, and an option for every plug-in that brings no file of its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from omegaconf import OmegaConf

from reflact.config.schema import Config

SCHEMA_NAME = "reflact_schema"
N_JOBS = 2
_PROVIDER = "reflact"


def register(conf: Path) -> None:
    """Store the schema and the options of installed plug-ins; doing it again changes nothing.

    A benchmark from another package (entry point in `reflact.benchmarks`) becomes `benchmark=<name>`; if the object
    offers `config_defaults()`, a mapping of keys (dotted or nested) to values, these are set too. A model backend
    (`reflact.models`) becomes `harness=<name>`.

    Args:
        conf: The folder with the files; an option that has a file there is left alone.
    """
    store = ConfigStore.instance()
    store.store(name=SCHEMA_NAME, node=Config, provider=_PROVIDER)
    _bound_joblib(store)
    for point in entry_points(group="reflact.benchmarks"):
        if not (conf / "benchmark" / f"{point.name}.yaml").exists():
            values = {"benchmark.name": point.name, **_defaults(point)}
            _option("benchmark", point.name, values)
    for point in entry_points(group="reflact.models"):
        if not (conf / "harness" / f"{point.name}.yaml").exists():
            _option("harness", point.name, {"model.student_backend": point.name})


def _bound_joblib(store: ConfigStore) -> None:
    """Give Hydra's joblib launcher a default of two runs at once instead of one a core.

    It is done here because `hydra.launcher.n_jobs` in the primary configuration would make every other launcher, which
    has no such key, fail.
    """
    Plugins.instance()  # finds the launcher and stores its options
    node = store.load("hydra/launcher/joblib.yaml").node
    node.n_jobs = N_JOBS
    store.store(group="hydra/launcher", name="joblib", node=node, provider=_PROVIDER)


def _option(group: str, name: str, values: Mapping[str, Any]) -> None:
    node = OmegaConf.create({})
    for key, value in values.items():
        OmegaConf.update(node, key, value, merge=True)
    ConfigStore.instance().store(group=group, name=name, node=node, package="_global_", provider=_PROVIDER)


def _defaults(point: EntryPoint) -> Mapping[str, Any]:
    """Ask a plug-in for its defaults; one that cannot be imported must not take the others with it."""
    if point.value.startswith("reflact."):
        return {}
    try:
        offer = getattr(point.load(), "config_defaults", None)
        return dict(offer()) if offer is not None else {}
    except Exception as error:  # noqa: BLE001 - whatever a stranger's module raises on import
        warnings.warn(
            f"The benchmark {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}",
            stacklevel=2,
        )
        return {}
