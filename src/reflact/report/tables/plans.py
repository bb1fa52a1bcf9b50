"""What a sweep has planned, from the `plan.json` in its root."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.errors import DataError
from reflact.report.tables.points import GRID, Point

PLAN = "plan.json"
ALIAS = "alias"
_SEED = re.compile(r"-train\.seed=\d+")


@dataclass(frozen=True, slots=True)
class Planned:
    """A point of a plan.

    Attributes:
        run_id: Its id.
        group: Its table, as the plan says.
        benchmark: Its benchmark, `""` if the plan does not say.
        state: `run`, `alias` of another point, or `skip`.
        same_as: The point that an alias equals.
        why: Why it is an alias or is skipped.
    """

    run_id: str
    group: str
    benchmark: str
    state: str
    same_as: str
    why: str

    @property
    def grid_point(self) -> Point | None:
        """The cell of a point that is called by its overrides; None for points that have an id of the study."""
        prefix = f"{self.benchmark}-"
        if self.group != GRID or not self.run_id.startswith(prefix):
            return None
        # Repeats with another seed are runs of one point.
        value = _SEED.sub("", f"-{self.run_id.removeprefix(prefix)}").lstrip("-")
        return Point(GRID, self.benchmark, value if value else "repeats")


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


def swept_in(folders: Sequence[Path]) -> frozenset[str]:
    """Return the keys in which the points of the grids in these folders differ.

    Raises:
        DataError: A plan cannot be read.
    """
    return frozenset(str(key) for folder in folders for key in _plan(folder / PLAN).get("swept", ()))


def _read(path: Path) -> Iterator[Planned]:
    for number, point in enumerate(_plan(path)["points"], 1):
        if not isinstance(point, Mapping) or not point.get("run_id"):
            raise DataError(f"{path}, point {number}: no run_id")
        yield Planned(
            str(point["run_id"]), _text(point, "group"), _text(point, "benchmark"), _text(point, "state"),
            _text(point, "same_as"), _text(point, "why"),
        )  # fmt: skip


def _plan(path: Path) -> Mapping[str, Any]:
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"points": []}
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from error
    if not isinstance(plan, Mapping) or not isinstance(plan.get("points"), list):
        raise DataError(f"{path} is no plan: it has no list `points`")
    return plan


def _text(point: Mapping[str, Any], name: str) -> str:
    value = point.get(name)
    return "" if value is None else str(value)
