"""The points of a sweep before anything is known of their data: what each is called and which overrides make it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reflact.config.axes import Axes, Axis, Option
from reflact.config.overrides import override
from reflact.config.run_id import safe
from reflact.core.errors import ConfigError
from reflact.sweep.context import key_of
from reflact.sweep.grids import FreePoint, Grid

_SHORT = (("scheduler-", "sched-"), ("pair-policy-", "policy-"))
"""How options are called in ids of agents' runs: `scheduler_linear` is `sched-linear`."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a sweep.

    Attributes:
        run_id: Its id; unique in the sweep, and the name of its directory.
        group: Its table.
        benchmark: Its benchmark.
        overrides: What makes its configuration, in Hydra's grammar, `benchmark=` first.
        command: `train` or `evaluate`.
        source_skill: It begins with its benchmark's source skill.
        fixed: Why it cannot be run beside what the command line says; `""` if it can.
        apart: Values that keep points apart although they compute the same.
    """

    run_id: str
    group: str
    benchmark: str
    overrides: tuple[str, ...]
    command: str
    source_skill: bool = False
    fixed: str = ""
    apart: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says beside the plan.

    Attributes:
        overrides: All overrides but the choice of plan and benchmark.
        benchmarks: Benchmarks asked for; None is all of the plan.
        student: Model name that decides the label of the default point, by benchmark and harness: see `expand`.
    """

    overrides: tuple[str, ...]
    benchmarks: tuple[str, ...] | None

    def value(self, key: str) -> str | None:
        """Return the text that a key is set to, None if it is not set."""
        found = [line.partition("=")[2] for line in self.overrides if key_of(line) == key]
        return found[-1] if found else None


class Expander:
    """Turns grids into points.

    Args:
        axes: The axes of the study.
        given: What the command line says.
        student: Returns the student's model of a list of overrides.
    """

    def __init__(self, axes: Axes, given: Given, student: Any) -> None:
        self._axes = axes
        self._given = given
        self._student = student
        self._chosen = dict(self._chosen_options())

    def points(self, grids: Sequence[Grid]) -> list[Point]:
        """Return the points in the order of the plan.

        Raises:
            ConfigError: No point is left, or two points have one id.
        """
        found = [point for grid in grids for point in self._of(grid)]
        if not found:
            asked = ", ".join(self._given.benchmarks or ())
            raise ConfigError(
                f"the plan has no point for benchmark={asked}: leave benchmark= out, or choose another plan"
            )
        unique: dict[str, Point] = {}
        for point in found:
            twin = unique.setdefault(point.run_id, point)
            if twin is not point and twin.overrides != point.overrides:
                raise ConfigError(f"two different points of the plan are called {point.run_id}")
        return list(unique.values())

    def _of(self, grid: Grid) -> Iterator[Point]:
        for benchmark in self._benchmarks(grid):
            if grid.default:
                yield self._point(grid, benchmark, None, None)
            for axis, options in grid.axes:
                for option in options:
                    yield self._point(grid, benchmark, axis, option)
            for free in grid.points:
                yield self._free(grid, benchmark, free)

    def _benchmarks(self, grid: Grid) -> Sequence[str]:
        asked = self._given.benchmarks
        if asked is None:
            return grid.benchmarks
        if grid.any_benchmark:
            return asked
        return [name for name in grid.benchmarks if name in asked]

    def _point(self, grid: Grid, benchmark: str, axis: Axis | None, option: Option | None) -> Point:
        own = [] if axis is None or option is None else [f"ablation/{axis.name}={option.name}"]
        overrides = self._merged(benchmark, grid, own)
        group = axis.group if axis else "DEFAULT"
        if grid.id is None:
            run_id = self._own_id(benchmark, axis, option, overrides)
        else:
            run_id = self._named(grid.id, benchmark, group, option, overrides)
        return Point(
            run_id=safe(run_id),
            group=grid.group or group,
            benchmark=benchmark,
            overrides=overrides,
            command=grid.command,
            source_skill=grid.source_skill,
            fixed=self._fixed(grid, axis, option),
        )

    def _free(self, grid: Grid, benchmark: str, free: FreePoint) -> Point:
        pinned = [override(key, value) for key, value in free.sets.items()]
        overrides = self._merged(benchmark, grid, [], pinned)
        return Point(
            run_id=safe(self._named(free.id, benchmark, free.group, None, overrides)),
            group=free.group,
            benchmark=benchmark,
            overrides=overrides,
            command=grid.command,
            source_skill=grid.source_skill or free.source_skill,
            fixed=self._fixed(grid, None, None),
        )

    def _merged(self, benchmark: str, grid: Grid, own: list[str], pinned: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the overrides of a point: a key that is set twice has the later value, as Hydra would have it."""
        harness = [] if grid.harness is None else [override("harness", grid.harness)]
        sets = [override(key, value) for key, value in grid.sets.items()]
        return last_wins([override("benchmark", benchmark), *harness, *own, *sets, *self._given.overrides, *pinned])

    def _own_id(self, benchmark: str, axis: Axis | None, option: Option | None, overrides: Sequence[str]) -> str:
        chosen = dict(self._chosen)
        if axis is not None and option is not None:
            chosen[axis.name] = (axis, option)
        labels = {a.group: o.label for a, o in chosen.values() if not o.default}
        if not labels:
            return f"DEFAULT-{benchmark}-{self._label(overrides)}"
        return "+".join(f"{group}-{benchmark}-{labels[group]}" for group in self._axes.join if group in labels)

    def _named(self, template: str, benchmark: str, group: str, option: Option | None, overrides: Sequence[str]) -> str:
        try:
            return template.format(
                group=group,
                benchmark=benchmark,
                label=option.label if option else "",
                option=_short(option.name) if option else "",
                student=self._label(overrides) if "{student}" in template else "",
            )
        except (KeyError, IndexError, ValueError) as error:
            raise ConfigError(f"the id {template!r} of the plan: {error} is no placeholder that it may hold") from error

    def _label(self, overrides: Sequence[str]) -> str:
        return self._axes.label_of_student(self._student(overrides))

    def _fixed(self, grid: Grid, axis: Axis | None, option: Option | None) -> str:
        """Say what on the command line contradicts what the point is."""
        harness = self._given.value("harness")
        if grid.harness is not None and harness not in (None, grid.harness):
            return f"the command line sets harness={harness}"
        if axis is None or option is None:
            return ""
        chosen = self._chosen.get(axis.name)
        if chosen is not None and chosen[1] != option:
            return f"the command line sets ablation/{axis.name}={chosen[1].name}"
        for key, value in option.sets.items():
            line = self._given.value(key)
            if line is not None and override(key, value) != f"{key}={line}":
                return f"the command line sets {key}={line}"
        return ""

    def _chosen_options(self) -> Iterator[tuple[str, tuple[Axis, Option]]]:
        for axis in self._axes.axes:
            name = self._given.value(f"ablation/{axis.name}")
            for option in axis.options:
                if option.name == name:
                    yield axis.name, (axis, option)


def last_wins(lines: Sequence[str]) -> tuple[str, ...]:
    """Return overrides with only the last one of each key, where it stood last."""
    last = {key_of(line): index for index, line in enumerate(lines)}
    return tuple(line for index, line in enumerate(lines) if last[key_of(line)] == index)


def _short(option: str) -> str:
    name = option.replace("_", "-")
    for long, short in _SHORT:
        name = name.replace(long, short)
    return name
