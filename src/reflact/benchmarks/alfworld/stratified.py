"""ALFWorld's splits: train from the official train games, val from valid_seen, test from valid_unseen.

How many games of each task type train and val get follows from how many the test pool (valid_unseen) has, so that
all parts have the same mix.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from reflact.benchmarks.alfworld.dataset import OFFICIAL_SPLIT
from reflact.benchmarks.alfworld.places import OFFICIAL, SEEN, TRAIN, UNSEEN
from reflact.benchmarks.records import Record
from reflact.core.errors import ConfigError, DataError
from reflact.core.names import Part

Counts = Mapping[str, int]
SOURCES = {Part.TRAIN: TRAIN, Part.VAL: SEEN, Part.TEST: UNSEEN}
NAMES = ("2-1-7", "1-1-8", "1shot", "4-1-5")
_OF_134 = {Part.TRAIN: 82, Part.VAL: 18, Part.TEST: 103}
"""Sizes of 4-1-5 for the official pool of 134 test games; other pools get the same shares."""
_OFFICIAL_POOL = 134


def part_counts(split: str, pool: Counts) -> dict[Part, dict[str, int]]:
    """Return how many games of each task type each part gets.

    With `t` test games of a type, 2-1-7 trains on `2t/7` and selects on `t/7`, 1-1-8 on `t/7` each, rounded half up;
    1shot takes one game of the most frequent type for each; 4-1-5 takes 82, 18 and 103 of 134 games, in proportion
    to `t` with the largest remainders. Except in 4-1-5 the whole pool is tested.

    Args:
        split: The split's name.
        pool: Games by task type in the test pool.

    Raises:
        ConfigError: The split is not one of `NAMES`.
    """
    if split == "2-1-7":
        return {Part.TRAIN: _each(pool, 2, 7), Part.VAL: _each(pool, 1, 7), Part.TEST: dict(pool)}
    if split == "1-1-8":
        return {Part.TRAIN: _each(pool, 1, 7), Part.VAL: _each(pool, 1, 7), Part.TEST: dict(pool)}
    if split == "1shot":
        # The first of equals in the order of the names, so that nothing depends on the order of files.
        most = min(pool, key=lambda kind: (-pool[kind], kind))
        return {Part.TRAIN: {most: 1}, Part.VAL: {most: 1}, Part.TEST: dict(pool)}
    if split == "4-1-5":
        n = sum(pool.values())
        return {part: largest_remainder(_share(size, n), pool) for part, size in _OF_134.items()}
    raise ConfigError(f"ALFWorld has no split {split!r}: it knows {', '.join(NAMES)}; give other games by --ids")


def _each(pool: Counts, numerator: int, denominator: int) -> dict[str, int]:
    return {kind: (2 * numerator * t + denominator) // (2 * denominator) for kind, t in pool.items()}


def _share(size: int, n: int) -> int:
    return max(1, (2 * size * n + _OFFICIAL_POOL) // (2 * _OFFICIAL_POOL))


def largest_remainder(size: int, weights: Counts) -> dict[str, int]:
    """Share `size` out in proportion to the weights: whole parts first, then one each by the largest remainders."""
    total = sum(weights.values())
    shares = {kind: size * weight // total for kind, weight in weights.items()}
    by_rest = sorted(weights, key=lambda kind: (-(size * weights[kind] % total), kind))
    for kind in by_rest[: size - sum(shares.values())]:
        shares[kind] += 1
    return shares


def assign(
    records: Sequence[Record], split: str, seed: int
) -> tuple[dict[Part, tuple[Record, ...]], Mapping[str, Any]]:
    """Draw the parts; also return what the manifest says of the drawing.

    The games of an official split are shuffled with `Random(seed)`; the first of each type are taken, in that order.

    Raises:
        ConfigError: The split's name is unknown.
        DataError: An official split has too few games of a type, or a part would be empty.
    """
    games: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        games[str(record.data[OFFICIAL_SPLIT])].append(record)
    counts = part_counts(split, Counter(record.item.task_type for record in games[UNSEEN]))
    parts = {part: _take(games[SOURCES[part]], counts[part], SOURCES[part], seed) for part in Part}
    empty = [part.value for part in Part if not parts[part]]
    if empty:
        raise DataError(f"split {split} of {len(games[UNSEEN])} test games leaves a part empty: {', '.join(empty)}")
    mix = {part.value: dict(sorted(Counter(r.item.task_type for r in parts[part]).items())) for part in Part}
    return parts, {"pool": {name: len(games[name]) for name in OFFICIAL}, "task_types": mix}


def _take(games: Sequence[Record], counts: Counts, source: str, seed: int) -> tuple[Record, ...]:
    left = dict(counts)
    order = list(games)
    Random(seed).shuffle(order)
    taken = []
    for record in order:
        if left.get(record.item.task_type, 0) > 0:
            left[record.item.task_type] -= 1
            taken.append(record)
    short = _listed(left, lambda kind: f"{counts[kind]} of {kind}, {counts[kind] - left[kind]} there")
    if short:
        raise DataError(f"{source} has too few games for this split: {short}")
    return tuple(taken)


def _listed(left: Counts, say: Callable[[str], str]) -> str:
    return "; ".join(say(kind) for kind in sorted(left) if left[kind] > 0)
