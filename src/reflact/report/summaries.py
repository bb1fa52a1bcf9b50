"""Reading `summary.json` for people: typed, and tolerant of parts that a run does not have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.rundir.layout import RunLayout


@dataclass(frozen=True, slots=True)
class Score:
    """A score object; None where it was not measured."""

    hard: float | None
    soft: float | None
    n: int | None
    scored: int | None
    ci95: tuple[float, float] | None


class SummaryView:
    """A summary with names for what is shown of it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @classmethod
    def read(cls, layout: RunLayout) -> SummaryView | None:
        """Read the summary of a run; None if there is none or it cannot be read."""
        data = read_object(layout.summary)
        return None if data is None else cls(data)

    def get(self, *path: str) -> Any:
        """Return a value inside nested objects, None where a part is missing."""
        value: Any = self.data
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def text(self, *path: str) -> str:
        """Return a text, `""` where it is missing."""
        value = self.get(*path)
        return "" if value is None else str(value)

    def number(self, *path: str) -> float | None:
        """Return a number, None where it is missing."""
        value = self.get(*path)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def whole(self, *path: str) -> int | None:
        """Return a whole number, None where it is missing."""
        value = self.number(*path)
        return None if value is None else int(value)

    def flag(self, *path: str) -> bool:
        """Return a truth value, false where it is missing."""
        return self.get(*path) is True

    def score(self, *path: str) -> Score | None:
        """Return a score object, such as that of `baseline`, `best` or `final` on `selection` or `test`."""
        value = self.get(*path)
        if not isinstance(value, Mapping):
            return None
        view = SummaryView(value)
        return Score(
            view.number("hard"), view.number("soft"), view.whole("n"), view.whole("scored"), pair(value.get("ci95"))
        )

    @property
    def statuses(self) -> dict[str, Counter[str]]:
        """Rows by status for each phase."""
        rows = self.get("rows")
        if not isinstance(rows, Mapping):
            return {}
        return {str(phase): counter(counts) for phase, counts in rows.items() if isinstance(counts, Mapping)}

    @property
    def usage_by_role(self) -> dict[str, Counter[str]]:
        """Calls and tokens by role, over stages and phases."""
        roles: dict[str, Counter[str]] = {}
        usage = self.get("usage")
        for role, stages in usage.items() if isinstance(usage, Mapping) else ():
            roles[str(role)] = _leaves(stages)
        return roles

    @property
    def valid(self) -> bool | None:
        """Whether the run may fill a table; None where the summary does not say."""
        value = self.get("validity", "valid")
        return value if isinstance(value, bool) else None

    @property
    def reasons(self) -> list[str]:
        """Reasons against the run's validity."""
        reasons = self.get("validity", "reasons")
        return [str(reason) for reason in reasons] if isinstance(reasons, list) else []


def _leaves(value: Any) -> Counter[str]:
    """Add up the usage objects below a value."""
    if not isinstance(value, Mapping):
        return Counter()
    if any(isinstance(number, int | float) for number in value.values()):
        return counter(value)
    total: Counter[str] = Counter()
    for below in value.values():
        total.update(_leaves(below))
    return total


def counter(value: Any) -> Counter[str]:
    """Return the whole numbers of an object."""
    if not isinstance(value, Mapping):
        return Counter()
    return Counter({str(name): int(number) for name, number in value.items() if isinstance(number, int | float)})


def pair(value: Any) -> tuple[float, float] | None:
    """Return `[low, high]` as a tuple, None if it is something else."""
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(bound, int | float) for bound in value):
        return float(value[0]), float(value[1])
    return None


def read_object(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None if there is none or it cannot be read."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
