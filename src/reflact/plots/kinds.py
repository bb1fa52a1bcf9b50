"""The kinds of figures by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reflact.core.errors import ConfigError
from reflact.plots import axes, cost, forest, learning
from reflact.plots.points import notes_of, read_groups
from reflact.plots.style import WIDTHS, looking, rendered, require_ending, require_matplotlib, write
from reflact.report.outputs import output_file, writing
from reflact.report.tables.compile import Desk, open_desk
from reflact.report.tables.found import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNING = "learning"
_OF_TABLES: dict[str, Callable[..., Figure]] = {"axes": axes.draw, "forest": forest.draw, "cost": cost.draw}
KINDS = (LEARNING, *_OF_TABLES)


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a study a figure shows.

    Attributes:
        groups: Tables (`LR`); empty for all.
        benchmarks: Benchmarks; empty for all.
        runs: Ids of runs, for learning curves; empty for all.
        ignore: Rules that are declared harmless.
        width: `column` or `page`.
    """

    groups: Sequence[str] = ()
    benchmarks: Sequence[str] = ()
    runs: Sequence[str] = ()
    ignore: Sequence[str] = ()
    width: str = "column"


def plot(kind: str, roots: Sequence[Path], out: Path, choice: Choice | None = None) -> list[str]:
    """Draw a figure of all runs below some roots into a file.

    Args:
        kind: One of `KINDS`.
        roots: Run directories, sweeps or folders above them.
        out: The file; its name says the format.
        choice: What is shown; everything by default.

    Returns:
        What was left out, and why.

    Raises:
        ConfigError: The kind, the file's name or the choice is wrong, or there is nothing to draw.
        Unavailable: matplotlib is not installed.
    """
    choice = Choice() if choice is None else choice
    if kind not in KINDS:
        raise ConfigError(f"{kind}: there is no such figure; there are {', '.join(KINDS)}")
    if choice.width not in WIDTHS:
        raise ConfigError(f"--width {choice.width}: one of {', '.join(WIDTHS)} is needed")
    ending = require_ending(out)
    place = output_file(out, "figure.svg")
    require_matplotlib()
    desk = open_desk(roots, ignore=choice.ignore)
    with looking():
        figure, notes = _drawn(kind, desk, choice)
        data = rendered(figure, ending)
    with writing(out):
        write(data, place)
    return notes


def _drawn(kind: str, desk: Desk, choice: Choice) -> tuple[Figure, list[str]]:
    width = WIDTHS[choice.width]
    if kind == LEARNING:
        return learning.draw(_runs(desk, choice), width), []
    groups = read_groups(desk, choice.groups, choice.benchmarks)
    return _OF_TABLES[kind](groups, width), notes_of(groups)


def _runs(desk: Desk, choice: Choice) -> list[Run]:
    runs = [*desk.study.runs, *desk.study.strays]
    ids = {run.run_id for run in runs}
    for name in choice.runs:
        if name not in ids:
            raise ConfigError(f"--run {name}: there is no such run below the roots")
    for name in choice.benchmarks:
        if name not in {run.benchmark for run in runs}:
            raise ConfigError(f"--benchmark {name}: there is no run of it below the roots")
    wanted = [run for run in runs if not choice.runs or run.run_id in choice.runs]
    wanted = [run for run in wanted if not choice.benchmarks or run.benchmark in choice.benchmarks]
    return [run for run in wanted if not choice.groups or (run.point is not None and run.point.group in choice.groups)]
