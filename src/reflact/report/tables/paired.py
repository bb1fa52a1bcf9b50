"""Intervals of paired differences, and correction for many comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from reflact.engine.stats import DRAWS, LEVEL, Interval, bootstrap_mean, mcnemar, mean

_FEW = 64
"""Up to that many distinct differences, their counts are drawn instead of the items."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two skills on the same items.

    Attributes:
        value: Mean difference.
        interval: Its 95% interval; None where rows are not at hand.
        n: Items on both sides; None where that is not known.
        p: Exact McNemar p-value; None where rows are not at hand.
        p_holm: The same after Holm's correction over the table.
    """

    value: float
    interval: Interval | None = None
    n: int | None = None
    p: float | None = None
    p_holm: float | None = None

    @property
    def noise(self) -> bool:
        """Whether the interval holds zero."""
        return self.interval is not None and self.interval.low <= 0 <= self.interval.high


def change(before: Sequence[float], after: Sequence[float]) -> Change | None:
    """Return the paired difference of item scores; None without items."""
    differences = [b - a for a, b in zip(before, after, strict=True)]
    middle = mean(differences)
    if middle is None:
        return None
    p = mcnemar(before, after)
    # Without an item that changed sides nothing speaks against equality.
    return Change(middle, bootstrap(differences), len(differences), 1.0 if p is None else p)


def bootstrap(values: Sequence[float]) -> Interval | None:
    """Return the percentile bootstrap interval of a mean.

    The differences of 0/1 scores take three values, and how often each is in a resample is multinomial: drawing
    these counts is drawing the resample, at a fraction of the cost.
    """
    distinct = sorted(set(values))
    if not values or len(distinct) > _FEW:
        return bootstrap_mean(values)
    import numpy as np

    shares = np.asarray([values.count(value) / len(values) for value in distinct])
    counts = np.random.default_rng(0).multinomial(len(values), shares / shares.sum(), size=DRAWS)
    means = counts @ np.asarray(distinct) / len(values)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down method (Holm 1979), in the order given."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    corrected = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = highest
    return corrected


def spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation of repeats (n - 1 in the denominator); None for fewer than two."""
    if len(values) < 2:
        return None
    middle = fsum(values) / len(values)
    return sqrt(fsum((value - middle) ** 2 for value in values) / (len(values) - 1))
