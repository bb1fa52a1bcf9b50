"""Laying panels out on a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_INCHES = 1.75


def sheet(names: Sequence[str], width: float, heights: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel a name.

    Panels of one height stand side by side as the width allows, others below each other.

    Args:
        names: Titles of the panels.
        width: Width of the figure in inches.
        heights: Height of each panel in inches.
    """
    from matplotlib.figure import Figure

    columns = 1 if heights is not None or width < 5 else min(len(names), 3 if width > 6.5 and len(names) != 2 else 2)
    rows = -(-len(names) // columns)
    sizes = list(heights) if heights is not None else [PANEL_INCHES] * rows
    figure = Figure(figsize=(width, sum(sizes) + 0.5), layout="constrained")
    grid = figure.add_gridspec(rows, columns, height_ratios=sizes)
    panels = [figure.add_subplot(grid[place // columns, place % columns]) for place in range(len(names))]
    for panel, name in zip(panels, names, strict=True):
        panel.set_title(name)
    return figure, panels


def legend(figure: Figure, panels: Sequence[Axes], width: float, *, least: int = 2) -> None:
    """Put one legend of all panels below them; none where there is only one thing to name."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(label), handle)
    if len(handles) < least:
        return
    longest = max(len(label) for label in handles)
    columns = max(1, min(len(handles), int(width / (0.35 + 0.058 * longest))))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns, columnspacing=1.0,
                  handletextpad=0.4)  # fmt: skip


def grid_lines(panel: Axes, axis: str) -> None:
    """Draw faint lines to read values by."""
    panel.grid(visible=True, axis=axis, color="#E4E4E4", linewidth=0.5)  # type: ignore[arg-type]


def name_scores(panel: Axes, text: str) -> None:
    """Label the scores' axis of panels at the left edge."""
    place = panel.get_subplotspec()
    if place is None or place.is_first_col():
        panel.set_ylabel(text)


def signed(value: float) -> str:
    """Return a difference with its sign, a real minus like the ticks'."""
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
