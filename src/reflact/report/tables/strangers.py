"""Older results of no point that anybody knows: they get rows of their own, and are most likely misspelt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from reflact.benchmarks.registry import benchmark_names
from reflact.config.axes import Axes
from reflact.config.nearest import suggestion
from reflact.report.tables.imported import Imported
from reflact.report.tables.points import Point, known_groups


def strangers(entries: Sequence[Imported], points: Collection[Point], axes: Axes) -> Iterator[str]:
    """Yield what is said of results whose group, benchmark or value nobody knows.

    Args:
        entries: The results.
        points: Points of runs and plans: what they are called is known, whatever it is.
        axes: The axes.
    """
    found = [f"{entry.point.name} ({why})" for entry in entries if (why := _unknown(entry.point, points, axes))]
    if found:
        yield f"Imported results that are no point of the study, in rows of their own: {', '.join(found)}."


def _unknown(point: Point, points: Collection[Point], axes: Axes) -> str:
    """Say what of a point nobody knows; nothing if all of it is known."""
    groups = {axis.group: [option.label for option in axis.options] for axis in axes.axes}
    known = [*known_groups(axes), *{other.group for other in points}]
    parts = point.group.split("+")
    joined = [group for group in axes.join if group in parts]
    if point.group not in known and parts != joined:
        order = f" (did you mean {'+'.join(joined)}?)" if sorted(parts) == sorted(joined) else ""
        return f"there is no group {point.group}{order or suggestion(point.group, known)}"
    benchmarks = [*benchmark_names(), *{other.benchmark for other in points}]
    if point.benchmark not in benchmarks:
        return f"there is no benchmark {point.benchmark}{suggestion(point.benchmark, benchmarks)}"
    if point in points or any(part not in groups for part in parts):
        return ""
    values = point.value.split("+")
    if len(values) != len(parts):
        return f"{point.value} is no value of {point.group}"
    for group, value in zip(parts, values, strict=True):
        if value not in groups[group]:
            return f"{value} is no value of {group}; there are {', '.join(groups[group])}"
    return ""
