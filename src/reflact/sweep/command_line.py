"""The points of a sweep that the command line spells out: Hydra's own lists, ranges and globs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser

from reflact.config.axes import choosing
from reflact.config.compose import Composer
from reflact.config.keys import all_keys, get
from reflact.config.run_id import axis_id, safe
from reflact.core.errors import ConfigError
from reflact.sweep.context import key_of
from reflact.sweep.points import Given, Point, last_wins

PLAN_GROUP = "sweep"
GRID = "grid"
"""Name of the plan of a sweep without a named one, and the table of points that are no point of the study."""


def given_beside_plan(arguments: Sequence[str], loader: ConfigLoader) -> Given:
    """Return what the command line says beside `+sweep=PLAN`.

    Raises:
        ConfigError: A key other than the benchmark has several values.
    """
    benchmarks: list[str] | None = None
    lines: list[str] = []
    for parsed in OverridesParser.create(config_loader=loader).parse_overrides(list(arguments)):
        key = parsed.get_key_element()
        if key == "benchmark":
            values = (
                parsed.sweep_string_iterator() if parsed.is_sweep_override() else [parsed.get_value_element_as_str()]
            )
            benchmarks = list(dict.fromkeys(values))
        elif parsed.is_sweep_override():
            raise ConfigError(
                f"{parsed.input_line}: beside +sweep=PLAN only benchmark= takes several values; give {key} one value, "
                "or leave the plan out and list what is to be run"
            )
        elif key.lstrip("+") != PLAN_GROUP and not key.lstrip("+").startswith(f"{PLAN_GROUP}."):
            lines.append(f"{key}={parsed.get_value_element_as_str()}")
    return Given(last_wins(lines), None if benchmarks is None else tuple(benchmarks))


def grid_points(arguments: Sequence[str], loader: ConfigLoader, composer: Composer, command: str) -> list[Point]:
    """Return a point for each combination of the values on the command line.

    Raises:
        ConfigError: A combination does not compose, or two have the same overrides.
    """
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(arguments))
    (jobs,) = BasicSweeper.split_arguments(parsed, None)
    jobs = [choosing([line for line in job if not key_of(line).startswith(f"{PLAN_GROUP}.")]) for job in jobs]
    ids, spelled = _names(composer, jobs)
    times = Counter(ids)
    names = [found if found and times[found] == 1 else other for found, other in zip(ids, spelled, strict=True)]
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(f"{count} jobs of this sweep would be the same run, {name}; leave all but one out.")
    free = [key for key in varying(jobs) if key in all_keys() and all_keys()[key].free]
    return [
        Point(
            run_id=name,
            group=name.partition("-")[0] if name == found and "+" not in name else GRID.upper(),
            benchmark=composer.compose(job).benchmark.name,
            overrides=tuple(job),
            command=command,
            apart=_apart(composer, job, free),
        )
        for name, found, job in zip(names, ids, jobs, strict=True)
    ]


def varying(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Return the keys that do not have one value in all jobs, in order."""
    seen: dict[str, set[str]] = {}
    for job in jobs:
        for line in job:
            seen.setdefault(key_of(line), set()).add(line)
    return [key for key, lines in seen.items() if len(lines) > 1]


def _names(composer: Composer, jobs: Sequence[Sequence[str]]) -> tuple[list[str | None], list[str]]:
    """Name the jobs by their ids (None for those without one) and by their overrides.

    What all jobs share beside the axes (`harness=rehearsal`) belongs to the study, not to a job's id.
    """
    shared = [line for line in jobs[0] if _belongs_to_study(line) and all(line in job for job in jobs)]
    ids: list[str | None] = []
    spelled: list[str] = []
    for job in jobs:
        config = composer.compose(job)
        bases: tuple[list[str], list[str]] = ([], shared)
        defaults = (composer.compose([f"benchmark={config.benchmark.name}", *base]) for base in bases)
        ids.append(next((found for default in defaults if (found := axis_id(config, default))), None))
        own = [line for line in job if line not in shared and key_of(line) != "benchmark"]
        spelled.append(safe("-".join([config.benchmark.name, *own])))
    return ids, spelled


def _belongs_to_study(line: str) -> bool:
    return key_of(line) != "benchmark" and not key_of(line).startswith("ablation/")


def _apart(composer: Composer, job: Sequence[str], free: Sequence[str]) -> Mapping[str, Any]:
    """Return the values of swept keys that do not change a result: who sweeps them wants all of their runs."""
    if not free:
        return {}
    config = composer.compose(job)
    return {key: get(config, key) for key in free}
