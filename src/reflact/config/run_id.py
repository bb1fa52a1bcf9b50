"""What a run is called: by the values of the axes in which it differs from its benchmark's default."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reflact.config.axes import Axes, Option, load_axes
from reflact.config.compose import Composer
from reflact.config.identity import config_diff, effective
from reflact.config.schema import Config

# Where the same data lies on this machine says nothing about a run.
_PLACES = frozenset({"env.split_root", "env.data_root", "env.image_root"})


def benchmark_default(config: Config, composer: Composer | None = None) -> Config:
    """Return what the configuration's benchmark sets when nothing else is chosen."""
    return (composer or Composer()).compose([f"benchmark={config.benchmark.name}"])


def axis_id(config: Config, default: Config, axes: Axes | None = None) -> str | None:
    """Return the id of a run that is a point of the study, None of one that is not.

    Only the effective values count, not how they were chosen: `LR-docvqa-8` is the run with a constant edit budget
    of 8, `DEFAULT-docvqa-5.5` the one that differs in nothing, `LR-docvqa-8+BATCH-docvqa-24` differs in two axes.

    Args:
        config: The run.
        default: Its benchmark's default.
        axes: The axes; None reads them from `conf/ablation`.
    """
    axes = axes or load_axes()
    name = config.benchmark.name
    changed = set(config_diff(config, default)) - _PLACES
    if not changed:
        return f"DEFAULT-{name}-{axes.label_of_student(config.model.student)}"
    chosen = dict(_cover(changed, effective(config), axes))
    if changed:
        return None
    return "+".join(f"{group}-{name}-{chosen[group]}" for group in axes.join if group in chosen)


def _cover(changed: set[str], values: Mapping[str, Any], axes: Axes) -> Iterator[tuple[str, str]]:
    """Take the options that explain the changed keys out of the set, those that set most keys first."""
    fitting = [
        (axis.group, option)
        for axis in axes.axes
        for option in axis.options
        if all(values[key] == value for key, value in option.sets.items())
    ]
    fitting.sort(key=lambda pair: -len(pair[1].sets))
    taken: set[str] = set()
    for group, option in fitting:
        mine = _explains(option, changed)
        if mine and group not in taken:
            taken.add(group)
            changed -= mine
            yield group, option.label


def _explains(option: Option, changed: set[str]) -> set[str]:
    return changed & option.sets.keys()


def folder_name(config: Config, default: Config) -> str:
    """Return the name of the folder that a single run's directories go to: its id, else what it is about."""
    return axis_id(config, default) or safe(f"{config.benchmark.name}-{config.model.student_backend}")


def run_id(config: Config, default: Config) -> str:
    """Return the run's id: of its point in the study, else the name of its directory."""
    return axis_id(config, default) or Path(config.env.out_root).absolute().name


def stamp() -> str:
    """Return `<UTC time>-<6 hex>`: two runs that start in the same second differ."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.urandom(3).hex()}"


def default_out_root(config: Config, default: Config) -> str:
    """Return the directory of a run that names none."""
    return str(Path("outputs") / folder_name(config, default) / stamp())


def safe(text: str) -> str:
    """Return a text as the name of a folder."""
    return re.sub(r"[^\w.+=-]+", "_", text).strip("._")[:120] or "run"
