"""What a sweep has planned, from the `plan.json` in its root."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.errors import DataError

PLAN = "plan.json"
ALIAS = "alias"


@dataclass(frozen=True, slots=True)
class Planned:
    """A point of a plan.

    Attributes:
        run_id: Its id.
        benchmark: Its benchmark, `""` if the plan does not say.
        state: `run`, `alias` of another point, or `skip`.
        same_as: The point that an alias equals.
        why: Why it is an alias or is skipped.
    """

    run_id: str
    benchmark: str
    state: str
    same_as: str
    why: str


def read_plans(folders: Sequence[Path]) -> list[Planned]:
    """Return the points of all plans in these folders; a point that two plans have is taken from the first.

    Raises:
        DataError: A plan cannot be read: without it, aliases and missing runs would silently be left out.
    """
    points: dict[str, Planned] = {}
    for folder in folders:
        for point in _read(folder / PLAN):
            known = points.get(point.run_id)
            # A plan that hands a point over to another root knows less of it than the plan of that root.
            if known is None or (known.state == "skip" and point.state != "skip"):
                points[point.run_id] = point
    return list(points.values())


def _read(path: Path) -> Iterator[Planned]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    try:
        plan = json.loads(text)
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from error
    points = plan.get("points") if isinstance(plan, Mapping) else None
    if not isinstance(points, list):
        raise DataError(f"{path} is no plan: it has no list `points`")
    for number, point in enumerate(points, 1):
        if not isinstance(point, Mapping) or not point.get("run_id"):
            raise DataError(f"{path}, point {number}: no run_id")
        yield Planned(
            str(point["run_id"]), _text(point, "benchmark"), _text(point, "state"), _text(point, "same_as"),
            _text(point, "why"),
        )  # fmt: skip


def _text(point: Mapping[str, Any], name: str) -> str:
    value = point.get(name)
    return "" if value is None else str(value)
