"""The gate: may a candidate replace the current skill?

Rules are objects with one method; they see per-item metrics, never time or order of completion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Protocol

from reflact.config.study import EvaluationConfig
from reflact.engine.stats import binomial_tail

MIN_COVERAGE = 0.95


@dataclass(frozen=True, slots=True)
class Metric:
    """What of a row the gate compares: `hard`, `soft` or a weighted mean of both."""

    kind: str
    weight: float

    def __call__(self, hard: float, soft: float) -> float:
        """Return the metric of one row."""
        if self.kind == "hard":
            return hard
        if self.kind == "soft":
            return soft
        return self.weight * hard + (1 - self.weight) * soft


@dataclass(frozen=True, slots=True)
class Measured:
    """A skill's metric on a split of `n` items: one value a repeat for each item whose repeats are all scored."""

    by_item: Mapping[str, tuple[float, ...]]
    n: int

    @property
    def coverage(self) -> float:
        """Share of the items that are scored."""
        return len(self.by_item) / self.n if self.n else 0.0

    @property
    def score(self) -> float | None:
        """Mean over the rows of scored items."""
        values = [value for row in self.by_item.values() for value in row]
        return fsum(values) / len(values) if values else None

    def total(self, items: Sequence[str]) -> float:
        """Return the exact sum over all rows of `items`."""
        return fsum(value for item in items for value in self.by_item[item])


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's answer and what it rests on."""

    accept: bool
    detail: Mapping[str, Any]


class Rule(Protocol):
    """One way to decide."""

    def decide(self, candidate: Measured, current: Measured) -> Verdict:
        """Compare two measured skills on the items scored for both; never accepts below `MIN_COVERAGE`."""
        ...


def _shared(candidate: Measured, current: Measured) -> list[str]:
    return [item for item in candidate.by_item if item in current.by_item]


def _indecisive(candidate: Measured, current: Measured) -> Verdict | None:
    coverage = min(candidate.coverage, current.coverage)
    if coverage >= MIN_COVERAGE:
        return None
    return Verdict(False, {"indecisive": f"coverage {coverage:.0%}", "coverage": coverage})


@dataclass(frozen=True, slots=True)
class StrictRule:
    """Accept if and only if the candidate's sum is greater; ties are rejected."""

    def decide(self, candidate: Measured, current: Measured) -> Verdict:
        """Compare sums over the items scored for both."""
        undecided = _indecisive(candidate, current)
        if undecided is not None:
            return undecided
        items = _shared(candidate, current)
        return Verdict(candidate.total(items) > current.total(items), {"rule": "strict"})


@dataclass(frozen=True, slots=True)
class PairedRule:
    """One-sided exact sign test on per-item differences of the means over repeats.

    With m differences that are not zero, k of them positive: accept if and only if their sum is positive and
    P(Bin(m, 1/2) >= k) <= alpha.
    """

    alpha: float

    def decide(self, candidate: Measured, current: Measured) -> Verdict:
        """Test the per-item differences."""
        undecided = _indecisive(candidate, current)
        if undecided is not None:
            return undecided
        means = [
            (fsum(candidate.by_item[i]) / len(candidate.by_item[i]), fsum(current.by_item[i]) / len(current.by_item[i]))
            for i in _shared(candidate, current)
        ]
        moved = [after - before for after, before in means if after != before]
        positive = sum(d > 0 for d in moved)
        p = binomial_tail(len(moved), positive)
        accept = fsum(moved) > 0 and p <= self.alpha
        return Verdict(accept, {"rule": "paired", "m": len(moved), "positive": positive, "p": p})


def make_rule(config: EvaluationConfig) -> Rule:
    """Return the rule that the configuration names."""
    return PairedRule(config.gate_alpha) if config.gate_rule == "paired" else StrictRule()


def improvements_needed(alpha: float, n: int) -> int | None:
    """Return how many improved items (and no worsened one) reach `alpha`; None if `n` cannot."""
    return next((k for k in range(1, n + 1) if 0.5**k <= alpha), None)


class PrefixBound:
    """Tells when a candidate cannot beat the current skill any more, whatever its missing rows give.

    Rows count in split order only: the longest complete prefix decides, never the order of completion, so the
    decision is the same at any concurrency. It is reached at the first k where
    `sum(candidate, rows 1..k) + (n - k) <= sum(current, all n rows)`.

    Args:
        current: The current skill's metric of every row, in split order.
    """

    def __init__(self, current: Sequence[float]) -> None:
        self._target = fsum(current)
        self._n = len(current)
        self._rows: dict[int, float] = {}
        self._prefix: list[float] = []

    @property
    def decided_at(self) -> int | None:
        """The k at which the candidate was found hopeless; None while it may still win."""
        return len(self._prefix) if self._hopeless() else None

    def feed(self, index: int, metric: float) -> bool:
        """Add row `index`; return whether the candidate is hopeless."""
        self._rows[index] = metric
        while not self._hopeless() and len(self._prefix) in self._rows:
            self._prefix.append(self._rows[len(self._prefix)])
        return self._hopeless()

    def _hopeless(self) -> bool:
        k = len(self._prefix)
        return fsum([*self._prefix, self._n - k]) <= self._target
