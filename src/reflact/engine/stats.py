"""Intervals and tests: every number that is shown carries one of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum, sqrt

LEVEL = 0.95
DRAWS = 10_000
_Z = 1.959963984540054  # two-sided 95% quantile of the normal distribution
_CHUNK = 200_000  # numbers drawn at once, so that memory stays flat; the draws are the same whatever it is


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided 95% interval."""

    low: float
    high: float

    def to_json(self) -> list[float]:
        """Return `[low, high]`."""
        return [self.low, self.high]


def wilson(successes: float, n: int) -> Interval | None:
    """Return the Wilson score interval of a share (Wilson 1927); None for `n = 0`."""
    if n == 0:
        return None
    p = successes / n
    z2 = _Z * _Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def bootstrap_mean(values: Sequence[float], *, draws: int = DRAWS, seed: int = 0) -> Interval | None:
    """Return the percentile bootstrap interval of a mean; None without values.

    Args:
        values: One number an item.
        draws: Resamples.
        seed: Seed of the resampling, so that equal values give equal intervals.
    """
    if not values:
        return None
    import numpy as np

    data = np.asarray(values, dtype=float)
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // len(data))
    means = np.concatenate(
        [
            data[rng.integers(0, len(data), size=(min(rows, draws - done), len(data)))].mean(axis=1)
            for done in range(0, draws, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


def binomial_tail(m: int, k: int) -> float:
    """Return P(Bin(m, 1/2) >= k)."""
    return sum(comb(m, i) for i in range(max(k, 0), m + 1)) / 2**m if k <= m else 0.0


def mcnemar(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return the exact two-sided McNemar p-value of paired 0/1 outcomes; None without discordant pairs.

    Values that are neither 0 nor 1 (means over repeats) count by the sign of their difference.
    """
    gained = sum(b < a for b, a in zip(before, after, strict=True))
    lost = sum(b > a for b, a in zip(before, after, strict=True))
    if gained + lost == 0:
        return None
    return min(1.0, 2 * binomial_tail(gained + lost, max(gained, lost)))


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, summed exactly so that the order of values does not matter; None without values."""
    return fsum(values) / len(values) if values else None
