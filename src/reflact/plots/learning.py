"""Learning curves: the current skill's score on the selection split after each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reflact.core.errors import ConfigError, DataError
from reflact.engine.history import read_history
from reflact.plots.panels import grid_lines, legend, name_scores, sheet
from reflact.plots.style import COLOURS, GREY, colour
from reflact.report.tables.found import Run
from reflact.report.tables.group import marks
from reflact.report.tables.points import DEFAULT
from reflact.rundir.layout import RunLayout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WITH_BANDS = 2
"""More intervals than that in one panel cover each other."""


@dataclass(slots=True)
class Curve:
    """What a run's history tells of selection scores (means of `hard`).

    Attributes:
        run: The run.
        steps: Steps at which `current` is known, beginning with 0.
        current: The current skill's score after each of them.
        low, high: Its 95% interval.
        rejected: (step, score) of candidates that were not taken and whose score is known.
    """

    run: Run
    steps: list[int] = field(default_factory=list)
    current: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    rejected: list[tuple[int, float]] = field(default_factory=list)

    def remarks(self, *, titled: bool) -> str:
        """Return what must be said of the run beside its name; `""` where there is nothing.

        Args:
            titled: The panel's title says that all of its runs are simulated or made samples.
        """
        run = self.run
        kinds = (("simulated", run.simulated and not titled), ("sample", run.sample and not titled),
                 (run.state_text, not run.complete),
                 ("invalid", run.complete and run.summary.get("validity", "valid") is False))  # fmt: skip
        said = ", ".join(name for name, holds in kinds if holds)
        return f" ({said})" if said else ""

    def add(self, step: int, scores: Any) -> None:
        """The current skill is one with these scores from that step on."""
        hard, interval = scores["hard"], scores.get("ci95") or (scores["hard"], scores["hard"])
        self.steps.append(step)
        self.current.append(float(hard))
        self.low.append(float(interval[0]))
        self.high.append(float(interval[1]))

    def stay(self, step: int) -> None:
        """The current skill is still the one before."""
        for values in (self.current, self.low, self.high):
            values.append(values[-1])
        self.steps.append(step)


def read_curve(run: Run) -> Curve | None:
    """Read a run's curve; None if its initial skill's score is not known yet, or it trains nothing.

    Raises:
        DataError: Its history is damaged.
    """
    layout = RunLayout(run.path)
    records = read_history(layout)
    try:
        return _curve(run, records)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"{layout.history}: a record is damaged: {type(error).__name__}: {error}") from error


def _curve(run: Run, records: Sequence[Mapping[str, Any]]) -> Curve | None:
    first = run.summary.get("baseline", "selection")
    if run.evaluation or not records or not isinstance(first, dict) or first.get("hard") is None:
        return None
    curve = Curve(run)
    curve.add(0, first)
    for record in records:
        step, candidate = int(record["step"]), record.get("candidate")
        scores = candidate.get("selection") if isinstance(candidate, dict) else None
        known = isinstance(scores, dict) and scores.get("hard") is not None
        if known and candidate is not None and candidate["sha256"] == record["current"]["sha256"]:
            curve.add(step, scores)
            continue
        if known and scores is not None:
            curve.rejected.append((step, float(scores["hard"])))
        curve.stay(step)
    return curve


def draw(runs: Sequence[Run], width: float) -> Figure:
    """Draw the figure, a panel a benchmark.

    With more runs than there are colours, the DEFAULT ones stand out from grey.

    Args:
        runs: The runs.
        width: Inches.

    Raises:
        ConfigError: No run has a curve.
    """
    curves: dict[str, list[Curve]] = {}
    for run in runs:
        curve = read_curve(run)
        if curve is not None:
            curves.setdefault(run.benchmark, []).append(curve)
    if not curves:
        raise ConfigError("there is nothing to draw: no complete training run below the roots has a step")
    said = [marks([curve.run for curve in found], []) for found in curves.values()]
    figure, panels = sheet([f"{name}{mark}" for name, mark in zip(curves, said, strict=True)], width)
    for panel, found, mark in zip(panels, curves.values(), said, strict=True):
        _panel(panel, found, titled=bool(mark))
        panel.set_xlabel("step")
        name_scores(panel, "selection score")
    legend(figure, panels, width, least=1)
    return figure


def _panel(panel: Axes, curves: Sequence[Curve], *, titled: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    many = len(curves) > len(COLOURS)
    for place, curve in enumerate(curves):
        stands_out = not many or (curve.run.point is not None and curve.run.point.group == DEFAULT)
        tone = colour(place) if not many else (COLOURS[0] if stands_out else GREY)
        remarks = curve.remarks(titled=titled)
        dashes = ("-", "--", "-.", ":")[place % 4] if not many else (":" if remarks else "-")
        name = curve.run.run_id if not many else (DEFAULT if stands_out else "other runs")
        panel.step(
            curve.steps, curve.current, where="post", color=tone, linestyle=dashes,
            linewidth=1.3 if stands_out else 0.5, zorder=3 if stands_out else 2,
            label=f"{name}{remarks}",
        )  # fmt: skip
        if len(curves) <= _WITH_BANDS:
            panel.fill_between(curve.steps, curve.low, curve.high, step="post", color=tone, alpha=0.15, linewidth=0)
        if not many and curve.rejected:
            steps, scores = zip(*curve.rejected, strict=True)
            panel.plot(steps, scores, linestyle="none", marker="x", markersize=3, color=tone, markeredgewidth=0.7)
    panel.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    grid_lines(panel, "y")
