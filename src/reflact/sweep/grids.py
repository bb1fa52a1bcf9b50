"""A named plan as data: a union of grids over benchmarks, as the files under `conf/sweep` write it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflact.config.axes import Axes, Axis, Option
from reflact.config.nearest import suggestion
from reflact.core.errors import ConfigError

COMMANDS = ("train", "evaluate")
ALL = "all"
_GRID_KEYS = frozenset(
    {"benchmarks", "any_benchmark", "default", "axes", "points", "set", "harness", "id", "group", "command"}
    | {"source_skill"}
)
_POINT_KEYS = frozenset({"id", "group", "set", "source_skill"})


@dataclass(frozen=True, slots=True)
class FreePoint:
    """A point that is no value of an axis.

    Attributes:
        id: Template of its id.
        group: Its table.
        sets: Keys that make it what it is; the command line does not change them.
        source_skill: It begins with its benchmark's source skill.
    """

    id: str
    group: str
    sets: Mapping[str, Any]
    source_skill: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """Every benchmark with every value of each axis, one axis at a time, and points of other kinds.

    Attributes:
        name: For messages.
        benchmarks: Names, in order.
        any_benchmark: A benchmark that is not among them may be asked for on the command line.
        default: Whether the default point belongs to it.
        axes: Options by axis, in order.
        points: Points of other kinds.
        sets: Keys and values of all points; the command line wins over them.
        harness: The harness of all points; None leaves it to the command line.
        id: Template of ids with {group}, {benchmark}, {label}, {option} and {student}; None is the study's own form.
        group: Table of all points; None is the axis's own.
        command: `train` or `evaluate`.
        source_skill: All points begin with their benchmark's source skill.
    """

    name: str
    benchmarks: tuple[str, ...]
    any_benchmark: bool
    default: bool
    axes: tuple[tuple[Axis, tuple[Option, ...]], ...]
    points: tuple[FreePoint, ...]
    sets: Mapping[str, Any]
    harness: str | None
    id: str | None
    group: str | None
    command: str
    source_skill: bool


def read_grids(plan: Mapping[str, Any], axes: Axes) -> Iterator[Grid]:
    """Yield the grids of a plan in order.

    Raises:
        ConfigError: Naming plan, grid and key.
    """
    for name, data in plan.get("grids", {}).items():
        where = f"plan {plan.get('name')}, grid {name}"
        _known(data, _GRID_KEYS, where)
        command = data.get("command", "train")
        if command not in COMMANDS:
            raise ConfigError(f"{where}: command={command} is not allowed: it takes one of {', '.join(COMMANDS)}")
        yield Grid(
            name=name,
            benchmarks=tuple(data["benchmarks"]),
            any_benchmark=bool(data.get("any_benchmark", False)),
            default=bool(data.get("default", False)),
            axes=tuple(_options(axes, axis, wanted, where) for axis, wanted in data.get("axes", {}).items()),
            points=tuple(_point(point, where) for point in data.get("points", ())),
            sets=dict(data.get("set", {})),
            harness=data.get("harness"),
            id=data.get("id"),
            group=data.get("group"),
            command=command,
            source_skill=bool(data.get("source_skill", False)),
        )


def _options(axes: Axes, name: str, wanted: str | Sequence[str], where: str) -> tuple[Axis, tuple[Option, ...]]:
    axis = next((axis for axis in axes.axes if axis.name == name), None)
    if axis is None:
        names = [axis.name for axis in axes.axes]
        raise ConfigError(f"{where}: there is no axis {name}{suggestion(name, names)}; known: {', '.join(names)}")
    if wanted == ALL:
        return axis, tuple(option for option in axis.options if not option.default)
    known = {option.name: option for option in axis.options}
    for option in wanted:
        if option not in known:
            near = suggestion(option, list(known))
            raise ConfigError(f"{where}: the axis {name} has no option {option}{near}; known: {', '.join(known)}")
    return axis, tuple(known[option] for option in wanted)


def _point(data: Mapping[str, Any], where: str) -> FreePoint:
    _known(data, _POINT_KEYS, where)
    return FreePoint(
        str(data["id"]), str(data["group"]), dict(data.get("set", {})), bool(data.get("source_skill", False))
    )


def _known(data: Mapping[str, Any], keys: frozenset[str], where: str) -> None:
    for key in data:
        if key not in keys:
            near = suggestion(str(key), sorted(keys))
            raise ConfigError(f"{where}: there is no key {key}{near}; known: {', '.join(sorted(keys))}")
    for key in ("benchmarks",) if "benchmarks" in keys else ("id", "group"):
        if key not in data:
            raise ConfigError(f"{where}: {key} is missing")
