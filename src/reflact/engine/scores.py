"""Scores of an evaluation, with the counts that must stand beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reflact.core.names import RowStatus
from reflact.engine.gate import Measured, Metric
from reflact.engine.stats import Interval, bootstrap_mean, mean, wilson


@dataclass(frozen=True, slots=True)
class RowRef:
    """What is kept in memory of a row; the rest is on disk at the two offsets.

    Attributes:
        id: The item's id.
        repeat: Which pass.
        seed: Seed of its rollout.
        status: How it ended.
        cause: What exactly happened, where the status is not `ok`.
        hard: Pass or fail; None for `error` rows.
        soft: Partial credit; None for `error` rows.
        task_type: The item's type.
        truncated: The reply was cut though an answer was found.
        no_action: Turns without a usable action.
        attempt: Times the item was run.
        digest: Hash of everything that the teacher may see of it.
        row_at: Byte offset of its line in `results.jsonl`.
        turns_at: Byte offset of its line in `conversations.jsonl`.
    """

    id: str
    repeat: int
    seed: int
    status: RowStatus
    cause: str | None
    hard: float | None
    soft: float | None
    task_type: str
    truncated: bool
    no_action: int
    attempt: int
    digest: str
    row_at: int
    turns_at: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the scored rows, with intervals over items.

    `n` counts items, `scored` those whose every repeat is scored; `statuses` counts rows.
    """

    hard: float | None
    soft: float | None
    n: int
    scored: int
    ci95: Interval | None
    ci95_soft: Interval | None
    statuses: dict[str, int] = field(default_factory=dict)
    truncated: int = 0
    no_action: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the score object of `summary.json`."""
        return {
            "hard": self.hard,
            "soft": self.soft,
            "n": self.n,
            "scored": self.scored,
            "coverage": self.scored / self.n if self.n else 0.0,
            "ci95": self.ci95.to_json() if self.ci95 else None,
            "ci95_soft": self.ci95_soft.to_json() if self.ci95_soft else None,
        }


@dataclass(frozen=True, slots=True)
class SelectionScores:
    """Selection scores of the skills that a summary tells of."""

    baseline: Scores
    best: Scores
    final: Scores


def item_means(rows: Sequence[RowRef]) -> dict[str, tuple[float, float]]:
    """Return mean (hard, soft) over repeats of each item whose every row is scored, in order of appearance."""
    grouped: dict[str, list[tuple[float, float]]] = {}
    dropped: set[str] = set()
    for row in rows:
        if row.hard is None or row.soft is None:
            dropped.add(row.id)
        else:
            grouped.setdefault(row.id, []).append((row.hard, row.soft))
    return {
        item: (mean([h for h, _ in pairs]) or 0.0, mean([s for _, s in pairs]) or 0.0)
        for item, pairs in grouped.items()
        if item not in dropped
    }


def scores_of(rows: Sequence[RowRef]) -> Scores:
    """Return the scores of rows; takes tens of milliseconds for large splits (bootstrap)."""
    items = item_means(rows)
    hard = [h for h, _ in items.values()]
    soft = [s for _, s in items.values()]
    hard_mean = mean(hard)
    return Scores(
        hard=hard_mean,
        soft=mean(soft),
        n=len({row.id for row in rows}),
        scored=len(items),
        ci95=wilson(hard_mean * len(hard), len(hard)) if hard_mean is not None else None,
        ci95_soft=bootstrap_mean(soft),
        statuses=status_counts(rows),
        truncated=sum(row.truncated for row in rows),
        no_action=sum(row.no_action for row in rows),
    )


def status_counts(rows: Sequence[RowRef]) -> dict[str, int]:
    """Return the number of rows of every status, zeros included."""
    counts = Counter(row.status.value for row in rows)
    return {status.value: counts[status.value] for status in RowStatus}


def measured(rows: Sequence[RowRef], metric: Metric) -> Measured:
    """Return what the gate compares."""
    by_item: dict[str, list[float]] = {}
    dropped: set[str] = set()
    for row in rows:
        if row.hard is None or row.soft is None:
            dropped.add(row.id)
        else:
            by_item.setdefault(row.id, []).append(metric(row.hard, row.soft))
    kept = {item: tuple(values) for item, values in by_item.items() if item not in dropped}
    return Measured(kept, len({row.id for row in rows}))
