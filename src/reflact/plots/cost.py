"""Cost frontier: what a run's best skill scores on test against what the run cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reflact.plots.panels import grid_lines, legend, name_scores, sheet
from reflact.plots.points import Group, label, nothing, title_marks
from reflact.plots.style import GREY, colour, marker
from reflact.report.tables.measures import Estimate
from reflact.report.tables.rows import ALIASED, REUSED, Row
from reflact.report.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Spent:
    """A setting: its price, its test score, and the selection score by which it is chosen."""

    row: Row
    price: float
    test: Estimate
    selection: float


def draw(groups: Sequence[Group], width: float) -> Figure:
    """Draw the figure: US dollars where all are known, else tokens; own work and reused.

    Args:
        groups: The tables.
        width: Inches.

    Raises:
        ConfigError: No setting has a cost and both scores.
    """
    rows = [row for group in groups for row in group.rows if row.measures is not None and row.fill != ALIASED]
    # The default fills a cell of every axis; it is one setting.
    own = {row.runs: row for row in sorted(rows, key=lambda row: row.fill == REUSED, reverse=True)}
    money = all(row.measures is not None and row.measures.cost_usd for row in own.values())
    found: dict[str, list[Spent]] = {}
    for row in own.values():
        spent = _spent(row, money=money)
        if spent is not None:
            found.setdefault(row.point.benchmark, []).append(spent)
    if not found:
        raise nothing("a cost, a selection and a test score")
    mark = title_marks(groups)
    names = list(dict.fromkeys(row.point.group for row in rows if row.fill != REUSED))
    figure, panels = sheet([f"{name}{mark}" for name in found], width)
    for panel, settings in zip(panels, found.values(), strict=True):
        _panel(panel, settings, names)
        panel.set_xlabel("US dollars a run" if money else "tokens a run")
        name_scores(panel, "test score")
    legend(figure, panels, width)
    return figure


def frontier(settings: Sequence[Spent]) -> list[Spent]:
    """Return the settings that no cheaper one matches on the selection split, by price.

    Never by the test split: choosing there what is then shown there would be choosing on test.
    """
    best = float("-inf")
    chosen = []
    for spent in sorted(settings, key=lambda spent: (spent.price, -spent.selection)):
        if spent.selection > best:
            best = spent.selection
            chosen.append(spent)
    return chosen


def _spent(row: Row, *, money: bool) -> Spent | None:
    measures = row.measures
    assert measures is not None
    price = measures.cost_usd if money else measures.tokens
    test, selection = measures.scores.get(("best", "test")), measures.scores.get(("best", "selection"))
    if price is None or price <= 0 or test is None or selection is None:
        return None
    return Spent(row, price, test, selection.value)


def _panel(panel: Axes, settings: Sequence[Spent], names: Sequence[str]) -> None:
    chosen = frontier(settings)
    panel.plot(
        [spent.price for spent in chosen], [spent.test.value for spent in chosen], color="black", linewidth=0.9,
        zorder=1.5, label="frontier (by selection)",
    )  # fmt: skip
    for spent in settings:
        place = names.index(spent.row.point.group)
        if spent.test.interval is not None:
            interval = (spent.test.interval.low, spent.test.interval.high)
            panel.plot((spent.price, spent.price), interval, color=GREY, linewidth=0.6, zorder=1)
        panel.plot(
            spent.price, spent.test.value, linestyle="none", marker=marker(place), color=colour(place),
            markersize=5 if spent in chosen else 3.6, markerfacecolor=colour(place) if spent in chosen else "white",
            zorder=2,
        )  # fmt: skip
    for place, name in enumerate(names):  # the legend shows every group hollow, whichever of its settings come first
        if any(spent.row.point.group == name for spent in settings):
            panel.plot([], [], linestyle="none", marker=marker(place), color=colour(place), markersize=3.6,
                       markerfacecolor="white", label=name)  # fmt: skip
    for place, spent in enumerate(chosen):
        panel.annotate(
            label(spent.row), (spent.price, spent.test.value), xytext=(4, 5 if place % 2 else -9),
            textcoords="offset points", fontsize=6.5,
        )  # fmt: skip
    panel.margins(x=0.18)
    _plain_log(panel, [spent.price for spent in settings])
    grid_lines(panel, "both")


def _plain_log(panel: Axes, prices: Sequence[float]) -> None:
    """Make a logarithmic axis with numbers as people write prices, more than one of them also within a decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    panel.set_xscale("log")
    near = max(prices) < 5 * min(prices)
    panel.xaxis.set_major_locator(
        MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]) if near else LogLocator(subs=(1, 2, 5))
    )
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count(value) if value >= 1000 else f"{value:g}"))
