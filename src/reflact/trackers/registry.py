"""Trackers by name: entry points in the group `reflact.trackers`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from reflact.config.nearest import suggestion
from reflact.config.tracking import TrackingConfig
from reflact.core.errors import ConfigError, Unavailable
from reflact.trackers.protocol import Tracker

GROUP = "reflact.trackers"
_NEEDS = {
    "mlflow": ("mlflow", "sqlalchemy", "alembic"),
    "wandb": ("wandb",),
    "tensorboard": ("tensorboardX",),
}
"""Packages that our own trackers import, which come with the extra of the tracker's name."""


def trackers() -> dict[str, EntryPoint]:
    """Return the entry points of all trackers that are installed."""
    return {point.name: point for point in entry_points(group=GROUP)}


def require_trackers(config: TrackingConfig) -> None:
    """Make sure that the trackers that a configuration names can be used; nothing heavy is imported.

    Raises:
        ConfigError: There is no such tracker, or one is named twice.
        Unavailable: Its packages are not installed.
    """
    known = trackers()
    for name in config.trackers:
        if name not in known:
            raise ConfigError(
                f"tracking.trackers: there is no tracker {name!r}{suggestion(name, known)}. "
                f"Installed: {', '.join(sorted(known)) or 'none'}"
            )
        if config.trackers.count(name) > 1:
            raise ConfigError(f"tracking.trackers: {name} is named twice")
        missing = [package for package in _NEEDS.get(name, ()) if find_spec(package) is None]
        if missing:
            raise Unavailable(
                f"tracking.trackers: {name} needs {', '.join(missing)}: pip install 'reflact[{name}]', or leave it out"
            )


def make_tracker(name: str) -> Tracker:
    """Return a new tracker."""
    made: Tracker = trackers()[name].load()()
    return made
