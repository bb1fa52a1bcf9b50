"""Reading `summary.json` for people: typed, and tolerant of parts that a run does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.report import numbers
from reflact.report.text import shorten
from reflact.rundir.jsonl import parse_line
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
        """Return a number, None where it is missing or none (`nonsense` names such places)."""
        return numbers.number(self.get(*path))

    def whole(self, *path: str) -> int | None:
        """Return a whole number, None where it is missing or none."""
        return numbers.whole(self.get(*path))

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

    @property
    def nonsense(self) -> list[str]:
        """Places where a number belongs and something else stands, or one that cannot be: `best.test.n='many'`."""
        return [f"{place}={_shown(value)}" for place, value in _numbers(self.data) if not _possible(place, value)]


_PARTS = ("selection", "test")
_SIDES = ("baseline", "best", "final")
_OF_SCORE = ("hard", "soft", "n", "scored", "ci95.0", "ci95.1")
_ALONE = (
    "delta_test", "tokens_total", "cost_usd", "wall_time_s", "best.step", "best.skill_tokens", "steps.total",
    "steps.accepted", "confidence.n", "confidence.mcnemar_p", "confidence.delta_test.0", "confidence.delta_test.1",
    *(f"{side}.{part}.{name}" for side in _SIDES for part in _PARTS for name in _OF_SCORE),
    *(f"scores.{name}" for name in _OF_SCORE),
)  # fmt: skip
_COUNTED = ("rows", "usage", "usage_reused")
_LONGEST = 60
_MAY_FALL = frozenset({"delta_test", "confidence.delta_test.0", "confidence.delta_test.1"})


def _numbers(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what stands where tables read a number, as far as there is something."""
    for place in _ALONE:
        value: Any = data
        for name in place.split("."):
            if isinstance(value, list) and name.isdigit():
                value = value[int(name)] if int(name) < len(value) else None
            else:
                value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            yield place, value
    for name in _COUNTED:
        yield from _below(name, data.get(name))


def _below(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _below(f"{place}.{name}", below)
    elif value is not None:
        yield place, value


def _possible(place: str, value: object) -> bool:
    found = numbers.number(value)
    return found is not None and (found >= 0 or place in _MAY_FALL)


def _shown(value: object) -> str:
    if isinstance(value, int | float):
        return "(a number beyond bounds)" if numbers.number(value) is None else repr(value)
    return shorten(repr(value), _LONGEST)


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
    found = {str(name): numbers.whole(number) for name, number in value.items()}
    return Counter({name: number for name, number in found.items() if number is not None})


def pair(value: Any) -> tuple[float, float] | None:
    """Return `[low, high]` as a tuple, None if it is something else."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    low, high = (numbers.number(bound) for bound in value)
    return None if low is None or high is None else (low, high)


def read_object(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None if there is none or it cannot be read."""
    try:
        return parse_line(path.read_bytes())
    except OSError:
        return None
