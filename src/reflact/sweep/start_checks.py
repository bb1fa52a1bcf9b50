"""What must hold before the first run of a sweep starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from reflact.config.nearest import suggestion
from reflact.config.operation import SweepConfig
from reflact.core.errors import ConfigError, DataError
from reflact.core.hashing import digest
from reflact.engine.preflight import require_models
from reflact.models.meter import Meter
from reflact.optimizer.registry import without_teacher
from reflact.sweep.planned import Planned, published_splits
from reflact.trackers.registry import require_trackers

_MOST = 5


def require_data(runs: Sequence[Planned]) -> None:
    """Make sure that the data of all runs are there.

    Raises:
        DataError: Naming what is missing, once for each benchmark.
    """
    missing = {next(iter(splits.values())).missing for splits in published_splits(runs).values()}
    if missing:
        shown = sorted(missing)[:_MOST]
        raise DataError(
            "the plan stands on published counts, but these data are needed to run it: "
            + "; ".join(shown)
            + ". (sweep.rehearse=true runs the plan on made items, benchmark=... narrows it.)"
        )


def require_benchmarks(most: Mapping[str, int], known: Sequence[str]) -> None:
    """Make sure that `sweep.max_parallel` names benchmarks: a misspelt one would bound nothing.

    Raises:
        ConfigError: With the nearest name.
    """
    for name in most:
        if name not in known:
            raise ConfigError(f"sweep.max_parallel: there is no benchmark {name}{suggestion(name, known)}")


def require_services(runs: Sequence[Planned], settings: SweepConfig) -> None:
    """Make sure that endpoints, keys, prices and trackers of all runs are there; no call is made.

    Raises:
        ReflactError: What is missing.
    """
    seen: set[str] = set()
    for entry in runs:
        assert entry.config is not None
        require_trackers(entry.config.tracking)
        config = entry.config if entry.point.command == "train" else without_teacher(entry.config)
        key = digest(asdict(config.model))
        if key not in seen:
            seen.add(key)
            require_models(config)
            Meter.of(replace(config, sweep=replace(config.sweep, max_usd=settings.max_usd)))
