"""Forest plot: each setting's best skill against the DEFAULT run's, paired over the test items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reflact.plots.panels import grid_lines, sheet, signed
from reflact.plots.points import Group, label, nothing, title_marks
from reflact.plots.style import colour
from reflact.report.tables.paired import Change
from reflact.report.tables.rows import ALIASED, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE_INCHES = 0.155
_HEAD_INCHES = 0.42


def draw(groups: Sequence[Group], width: float) -> Figure:
    """Draw the figure.

    Args:
        groups: The tables.
        width: Inches.

    Raises:
        ConfigError: Nothing was compared with a DEFAULT run.
    """
    found: dict[str, list[tuple[Row, Change]]] = {}
    for group in groups:
        for row in group.rows:
            if row.measures is not None and row.measures.versus is not None and row.fill != ALIASED:
                found.setdefault(row.point.benchmark, []).append((row, row.measures.versus))
    if not found:
        raise nothing("a difference from a DEFAULT run")
    mark = title_marks(groups)
    heights = [_HEAD_INCHES + _LINE_INCHES * len(rows) for rows in found.values()]
    figure, panels = sheet([f"{name}{mark}{_shared_n(rows)}" for name, rows in found.items()], width, heights)
    for panel, rows in zip(panels, found.values(), strict=True):
        _panel(panel, rows)
    reach = max(abs(edge) for panel in panels for edge in panel.get_xlim())
    for panel in panels:
        panel.set_xlim(-reach, reach)
    panels[-1].set_xlabel("difference from DEFAULT on test (95% interval)")
    return figure


def _panel(panel: Axes, rows: Sequence[tuple[Row, Change]]) -> None:
    panel.axvline(0, color="black", linewidth=0.6)
    before, told = "", bool(_shared_n(rows))
    for place, (row, change) in enumerate(rows):
        tone = "#666666" if change.noise or change.interval is None else colour(0 if change.value > 0 else 1)
        if change.interval is not None:
            panel.plot((change.interval.low, change.interval.high), (place, place), color=tone, linewidth=1.1)
        panel.plot(
            change.value, place, marker="o" if change.noise else "D", markersize=3.6, color=tone,
            markerfacecolor="white" if change.noise else tone, linestyle="none",
        )  # fmt: skip
        n = "" if told or change.n is None else f"  n={change.n}"
        panel.annotate(
            f"{signed(change.value)}{n}", (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=6.5,
            annotation_clip=False,
        )  # fmt: skip
        if before and before != row.point.group:
            panel.axhline(place - 0.5, color="#D0D0D0", linewidth=0.5)
        before = row.point.group
    panel.set_yticks(range(len(rows)), [label(row) for row, _ in rows])
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    grid_lines(panel, "x")


def _shared_n(rows: Sequence[tuple[Row, Change]]) -> str:
    """Return the number of items where all rows have the same."""
    numbers = {change.n for _, change in rows}
    return f", n={numbers.pop()}" if len(numbers) == 1 and None not in numbers else ""
