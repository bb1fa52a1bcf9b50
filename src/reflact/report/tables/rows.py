"""Which rows a group's table has, and what fills each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reflact.config.axes import Axes
from reflact.core.names import RunState
from reflact.report.tables.found import Run, Study
from reflact.report.tables.imported import Imported
from reflact.report.tables.judge import Judge
from reflact.report.tables.measures import Measures, measure
from reflact.report.tables.plans import ALIAS, Planned
from reflact.report.tables.points import AGENTS, BEST_SKILL, DEFAULT, GRID, Point, point_of_id, reference_point

REUSED, IMPORTED, MEASURED, ALIASED = "reused", "imported", "measured", "alias"
_ORDER = ("searchqa", "spreadsheetbench", "livemathematicianbench", "alfworld", "docvqa")
_PARTS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a group's table.

    Attributes:
        point: The cell.
        fill: `measured`, `reused`, `alias`, `imported`, or `""` for an empty one.
        state: State of the run that fills it or should.
        label: Id of that run; of an alias, the point that it equals.
        measures: Its numbers, None if it is empty.
        runs: The runs behind them.
        invalid: A complete run was left out.
        note: Why it is empty, or where it comes from.
    """

    point: Point
    fill: str
    state: str
    label: str
    measures: Measures | None = None
    runs: tuple[Run, ...] = ()
    invalid: bool = False
    note: str = ""


class Layout:
    """The rows of all tables of a study."""

    def __init__(self, study: Study, imports: Sequence[Imported], judge: Judge, axes: Axes) -> None:
        self._study = study
        self._imports = {entry.point: entry for entry in imports}
        self._judge = judge
        self._axes = axes
        self._planned: dict[Point, Planned] = {}
        # Points of plans that are in no table and have no run that would be told of.
        self.unplaced: list[Planned] = []
        elsewhere = {run.run_id for run in study.runs if run.point is not None and run.point.group != GRID}
        begun = {run.run_id for run in (*study.runs, *study.strays)}
        for plan in study.planned:
            point = point_of_id(plan.run_id, plan.benchmark, axes) or plan.grid_point
            if plan.run_id in elsewhere and point is not None and point.group == GRID:
                continue  # its configuration is a point of the study, where it stands
            if point is not None:
                self._planned.setdefault(point, plan)
            elif plan.run_id not in begun:
                self.unplaced.append(plan)
        # Points of runs and plans.
        self.of_study = frozenset({*(run.point for run in study.runs if run.point), *self._planned})
        self._points = self.of_study | self._imports.keys()

    @property
    def groups(self) -> list[str]:
        """Groups with a point, in the order of the axes, then joined ones and the agents' plans."""
        order = [DEFAULT, *(axis.group for axis in self._axes.axes)]
        found = {point.group for point in self._points}
        return [*(group for group in order if group in found), *sorted(found - set(order))]

    @property
    def benchmarks(self) -> list[str]:
        """All benchmarks, in the order of the tables."""
        return sorted({point.benchmark for point in self._points}, key=_benchmark_rank)

    def points(self, group: str) -> Iterator[tuple[Point, Point]]:
        """Yield a group's cells, each with the point that fills it: itself, or the default's."""
        for benchmark in self.benchmarks:
            own = [point for point in self._points if (point.group, point.benchmark) == (group, benchmark)]
            if not own:
                continue
            default = self._default(group, benchmark)
            cells = {point: point for point in own} | ({default[0]: default[1]} if default else {})
            labels = self._labels(group)
            for point in sorted(cells, key=lambda point: _value_rank(point.value, labels)):
                yield point, cells[point]

    def rows(self, group: str) -> list[Row]:
        """Return the rows of a group's table."""
        return [self.row(shown, filled_by) for shown, filled_by in self.points(group)]

    def row(self, shown: Point, filled_by: Point) -> Row:
        """Return one row."""
        plan = self._planned.get(filled_by)
        if plan is not None and plan.state == ALIAS and not self.runs_at(filled_by):
            return self._alias(shown, plan)
        reused = shown != filled_by
        runs = self.runs_at(filled_by)
        valid = [run for run in runs if self._judge.verdict(run, shown.group).valid]
        bad = any(run.complete and run not in valid for run in runs)
        if valid:
            measures = measure(valid, self._compared(shown, filled_by))
            fill = REUSED if reused else MEASURED
            return Row(shown, fill, RunState.DONE.value, _ids(valid), measures, tuple(valid), bad)
        entry = self._imports.get(filled_by)
        if entry is not None:
            return Row(shown, IMPORTED, "", entry.run_id, entry.measures, (), bad, entry.source)
        return self._empty(shown, filled_by, runs, plan)

    def runs_at(self, point: Point) -> list[Run]:
        """Return the runs of a point; the value of a default's point may be open."""
        return [
            run
            for run in self._study.runs
            if run.point is not None
            and (run.point == point or (not point.value and replace(run.point, value="") == point))
        ]

    def _alias(self, shown: Point, plan: Planned) -> Row:
        target = next((p for p, planned in self._planned.items() if planned.run_id == plan.same_as), None)
        target = target or point_of_id(plan.same_as, plan.benchmark, self._axes)
        if target is None or target == shown:
            return Row(shown, "", RunState.PLANNED.value, f"= {plan.same_as}", note=plan.why)
        row = self.row(target, target)
        fill = ALIASED if row.measures is not None else ""
        return replace(row, point=shown, fill=fill, label=f"= {plan.same_as}", note=plan.why)

    def _empty(self, shown: Point, filled_by: Point, runs: Sequence[Run], plan: Planned | None) -> Row:
        if runs:
            # Of several unfinished runs, the one that is furthest is told.
            last = max(runs, key=lambda run: (run.complete, run.state is RunState.RUNNING, run.run_id, run.place))
            return Row(shown, "", last.state_text, last.run_id, invalid=last.complete)
        if plan is not None:
            state = self._study.told.get(plan.run_id, RunState.PLANNED.value)
            return Row(shown, "", state, plan.run_id, note=plan.why)
        return Row(shown, "", "", "", note=f"there is no {filled_by.group}-{filled_by.benchmark} run")

    def _compared(self, shown: Point, filled_by: Point) -> list[Run]:
        wanted = reference_point(shown, self._axes)
        if wanted is None or shown != filled_by:
            return []
        found = self.runs_at(wanted)
        return [run for run in found if run.complete and self._judge.verdict(run, shown.group).valid]

    def _default(self, group: str, benchmark: str) -> tuple[Point, Point] | None:
        """Return the cell of the default in a group's table and the point that fills it."""
        if group in AGENTS:
            return Point(group, benchmark, "default"), Point(BEST_SKILL, benchmark, AGENTS[group])
        target = self._default_point(Point(DEFAULT, benchmark, ""))
        if group == GRID:  # a grid may well have no default among its points
            return (Point(group, benchmark, "default"), target) if target is not None and target.value else None
        label = next(
            (o.label for axis in self._axes.axes if axis.group == group for o in axis.options if o.default), None
        )
        return (Point(group, benchmark, label), target) if label is not None and target is not None else None

    def _default_point(self, wanted: Point | None) -> Point | None:
        """Return the default's point with its value, where a run, a plan or an import has it."""
        if wanted is None or wanted.value:
            return wanted
        found = sorted(
            (point for point in self._points if replace(point, value="") == wanted), key=lambda point: point.value
        )
        return found[0] if len(found) == 1 else wanted

    def _labels(self, group: str) -> list[str]:
        return [option.label for axis in self._axes.axes if axis.group == group for option in axis.options]


def _ids(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(run.run_id for run in runs))


def _benchmark_rank(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _value_rank(value: str, labels: Sequence[str]) -> tuple[int, list[Any]]:
    """Order values as the axis does, others behind, with the numbers in them counting as numbers."""
    if value in labels:
        return labels.index(value), []
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in _PARTS.split(value) if part]
    return len(labels), parts
