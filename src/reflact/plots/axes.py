"""Ablation axes: the best skill's test score at each value, a panel an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reflact.plots.panels import grid_lines, legend, name_scores, sheet
from reflact.plots.points import Group, benchmarks_of, nothing, title_marks
from reflact.plots.style import colour, marker
from reflact.report.tables.points import DEFAULT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_APART = 0.12
"""How far the benchmarks stand apart at one value, so that their intervals do not cover each other."""


def draw(groups: Sequence[Group], width: float) -> Figure:
    """Draw the figure.

    Args:
        groups: The tables.
        width: Inches.

    Raises:
        ConfigError: No axis has two values with a score.
    """
    drawn = [group for group in groups if group.name != DEFAULT and _scored(group)]
    benchmarks = benchmarks_of(drawn)
    if not drawn:
        raise nothing("a test score along an axis")
    mark = title_marks(drawn)
    figure, panels = sheet([f"{group.name}{mark}" for group in drawn], width)
    for panel, group in zip(panels, drawn, strict=True):
        _panel(panel, group, benchmarks)
    low, high = min(panel.get_ylim()[0] for panel in panels), max(panel.get_ylim()[1] for panel in panels)
    for panel in panels:
        panel.set_ylim(low, high)
        name_scores(panel, "test score")
    legend(figure, panels, width, least=1)
    return figure


def _scored(group: Group) -> bool:
    values = {row.point.value for row in group.rows if row.measures and ("best", "test") in row.measures.scores}
    return len(values) > 1


def _panel(panel: Axes, group: Group, benchmarks: Sequence[str]) -> None:
    values = _in_order(list(dict.fromkeys(row.point.value for row in group.rows)))
    numbers = all(value.isdigit() or value == "full" for value in values)
    for number, benchmark in enumerate(benchmarks):
        shift = (number - (len(benchmarks) - 1) / 2) * _APART
        places, scores, below, above = [], [], [], []
        for row in sorted(group.of(benchmark), key=lambda row: values.index(row.point.value)):
            score = row.measures.scores.get(("best", "test")) if row.measures else None
            if score is None:
                continue
            places.append(values.index(row.point.value) + shift)
            scores.append(score.value)
            # A bootstrap interval of few items need not hold its own mean to the last digit.
            below.append(max(0.0, score.value - score.interval.low) if score.interval else 0.0)
            above.append(max(0.0, score.interval.high - score.value) if score.interval else 0.0)
        if places:
            panel.errorbar(
                places, scores, yerr=(below, above), label=benchmark, color=colour(number), marker=marker(number),
                linestyle="-" if numbers else "none", linewidth=0.8, elinewidth=0.8, markersize=3.5,
            )  # fmt: skip
    panel.set_xticks(range(len(values)), values, rotation=0 if max(map(len, values)) * len(values) < 30 else 30)
    panel.set_xlim(-0.5, len(values) - 0.5)
    for tick, value in zip(panel.get_xticklabels(), values, strict=True):
        tick.set_fontweight("bold" if value == group.default else "normal")
    grid_lines(panel, "y")


def _in_order(values: list[str]) -> list[str]:
    """Order numbers by size, and leave names in the order of the table, behind them."""
    return sorted(values, key=lambda value: int(value) if value.isdigit() else float("inf"))
