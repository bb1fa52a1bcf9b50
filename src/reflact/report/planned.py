"""Runs that a sweep has planned, from the `plan.json` in its root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reflact.config.overrides import command, override
from reflact.report.summaries import SummaryView, read_object


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A point of a plan that is to be run.

    Attributes:
        run_id: Its id.
        benchmark: Its benchmark.
        path: Its directory.
        tokens: Tokens that it takes at most; None if nobody knows.
        cost_usd: US dollars likewise.
    """

    run_id: str
    benchmark: str
    path: Path
    tokens: int | None = None
    cost_usd: float | None = None


def planned_runs(root: Path) -> Iterator[PlannedRun]:
    """Yield the points of a sweep's plan that are runs of their own; nothing if `root` is no sweep's root."""
    plan = read_object(root / "plan.json") or {}
    points = plan.get("points")
    for point in points if isinstance(points, list) else ():
        if not isinstance(point, Mapping) or point.get("state") != "run" or not point.get("run_id"):
            continue
        run_id = str(point["run_id"])
        path = Path(str(point.get("out_dir") or run_id))
        # A plan may have been written with a path relative to where the sweep was started, or to its root.
        choices = [path] if path.is_absolute() else [root / path, path, root / run_id]
        place = next((choice for choice in choices if choice.exists()), choices[0])
        most = SummaryView(point)
        yield PlannedRun(
            run_id,
            str(point.get("benchmark") or ""),
            place.resolve(),
            most.whole("est_tokens"),
            most.number("est_cost_usd"),
        )


def way_on(root: Path) -> tuple[frozenset[str], str]:
    """Return the ids of a sweep's points, and the command that goes on with those that have not ended.

    Returns:
        No ids where `root` is no sweep's root; no command where its plan does not say how it was started.
    """
    plan = read_object(root / "plan.json") or {}
    points, words = plan.get("points"), plan.get("command")
    if not (isinstance(points, list) and isinstance(words, list) and words):
        return frozenset(), ""
    ids = frozenset(str(point["run_id"]) for point in points if isinstance(point, Mapping) and point.get("run_id"))
    program, *rest = map(str, words)
    return ids, command(program, [*rest, override("hydra.sweep.dir", str(root)), "sweep.existing=resume"])
