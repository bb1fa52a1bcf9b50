"""The numbers of figures: those of the tables, in their order, and what is left out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.errors import ConfigError
from reflact.report.tables.compile import Desk
from reflact.report.tables.found import Run
from reflact.report.tables.group import corrected, left_out_runs, marks
from reflact.report.tables.points import DEFAULT
from reflact.report.tables.rows import Row


@dataclass(frozen=True, slots=True)
class Group:
    """A table as figures see it.

    Attributes:
        name: Its name (`LR`).
        rows: Its rows, with p-values corrected over the table.
        left_out: Complete runs that may not fill their cell, with the reasons.
        default: Label of the default's value; `""` where the axis has none.
    """

    name: str
    rows: tuple[Row, ...]
    left_out: tuple[tuple[Run, Sequence[str]], ...]
    default: str

    def of(self, benchmark: str) -> list[Row]:
        """Return the rows of a benchmark."""
        return [row for row in self.rows if row.point.benchmark == benchmark]


def read_groups(desk: Desk, wanted: Sequence[str], benchmarks: Sequence[str]) -> list[Group]:
    """Return the tables of a study.

    Args:
        desk: Where tables are made of.
        wanted: Names of groups; empty for all.
        benchmarks: Names of benchmarks; empty for all.

    Raises:
        ConfigError: A group or benchmark is not there.
    """
    layout = desk.layout
    for option, asked, there in (("--group", wanted, layout.groups), ("--benchmark", benchmarks, layout.benchmarks)):
        for name in asked:
            if name not in there:
                raise ConfigError(f"{option} {name}: the runs below the roots have {', '.join(there) or 'none'}")
    found = []
    for name in wanted or layout.groups:
        rows = [row for row in corrected(layout.rows(name)) if not benchmarks or row.point.benchmark in benchmarks]
        left_out = tuple(left_out_runs(name, layout, desk.judge))
        default = next((option.label for axis in desk.axes.axes if axis.group == name for option in axis.options
                        if option.default), "")  # fmt: skip
        found.append(Group(name, tuple(rows), left_out, default))
    return found


def benchmarks_of(groups: Sequence[Group]) -> list[str]:
    """Return the benchmarks that have a number, in the order of the tables."""
    return list(dict.fromkeys(row.point.benchmark for group in groups for row in group.rows if row.measures))


def title_marks(groups: Sequence[Group]) -> str:
    """Return what every panel's title must say: that all runs are simulated, or made samples."""
    runs = [run for group in groups for row in group.rows for run in row.runs]
    return marks(runs, [pair for group in groups for pair in group.left_out])


def notes_of(groups: Sequence[Group]) -> list[str]:
    """Return which complete runs the figures leave out, each once, and why."""
    told: dict[str, str] = {}
    for group in groups:
        for run, reasons in group.left_out:
            told.setdefault(run.place, f"left out: {run.run_id} ({run.place}): {'; '.join(reasons)}")
    return list(told.values())


def label(row: Row) -> str:
    """Return a row's short name."""
    return row.point.value if row.point.group == DEFAULT else f"{row.point.group} {row.point.value}"


def nothing(what: str) -> ConfigError:
    """Return the error for a figure without a number."""
    return ConfigError(
        f"there is nothing to draw: no run below the roots fills a cell with {what}. `reflact tables ROOT --explain "
        "RUN_ID` says which rule decided about a run"
    )
