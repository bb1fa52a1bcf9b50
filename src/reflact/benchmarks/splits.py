"""Cutting a list of items into train, val and test."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from reflact.core.errors import ConfigError, DataError
from reflact.core.hashing import digest
from reflact.core.names import Part
from reflact.core.types import Item

T = TypeVar("T")

NAMES = ("2-1-7", "1shot", "1-1-8", "4-1-5", "10pct")
"""The splits that `env.split` knows; `part_sizes` takes any ratio `a-b-c`."""

DEFAULT_SEED = 42
_RATIO = re.compile(r"(\d+)-(\d+)-(\d+)")
_TENTH_OF = "2-1-7"


def part_sizes(n: int, split: str) -> dict[Part, int]:
    """Return how many of `n` items each part gets.

    For a ratio `a-b-c` with `s = a + b + c`: `train = (2*n*a + s) // (2*s)` (half up), `val` likewise with `b`,
    `test` the rest. `1shot` is 1 / 1 / n-2. `10pct` is the first tenth (floor) of each part of `2-1-7`.

    Raises:
        ConfigError: The name is no split.
        DataError: A part would be empty.
    """
    if split == "10pct":
        sizes = {part: size // 10 for part, size in part_sizes(n, _TENTH_OF).items()}
    elif split == "1shot":
        sizes = {Part.TRAIN: 1, Part.VAL: 1, Part.TEST: n - 2}
    else:
        a, b, c = _ratio(split)
        total = a + b + c
        train, val = (2 * n * a + total) // (2 * total), (2 * n * b + total) // (2 * total)
        sizes = {Part.TRAIN: train, Part.VAL: val, Part.TEST: n - train - val}
    empty = [part.value for part, size in sizes.items() if size < 1]
    if empty:
        raise DataError(f"split {split} of {n} items leaves a part empty: {', '.join(empty)}")
    return sizes


def assign(items: Sequence[T], split: str, seed: int = DEFAULT_SEED) -> dict[Part, tuple[T, ...]]:
    """Shuffle items given in file order with `Random(seed)` and slice them: train, then val, then test.

    Raises:
        ConfigError, DataError: As in `part_sizes`.
    """
    if split == "10pct":
        sizes = part_sizes(len(items), split)
        whole = assign(items, _TENTH_OF, seed)
        return {part: whole[part][: sizes[part]] for part in Part}
    sizes = part_sizes(len(items), split)
    order = list(items)
    Random(seed).shuffle(order)
    parts, start = {}, 0
    for part in Part:
        parts[part] = tuple(order[start : start + sizes[part]])
        start += sizes[part]
    return parts


def fingerprint(items: Sequence[Item]) -> str:
    """Return a sha256 over ids, questions, golds, types and data, in order; paths and formatting do not count."""
    return digest([[item.id, item.question, list(item.gold), item.task_type, dict(item.data)] for item in items])


def fingerprints(parts: Mapping[Part, Sequence[Item]]) -> dict[Part, str]:
    """Return the fingerprint of each part."""
    return {part: fingerprint(parts[part]) for part in Part}


def _ratio(split: str) -> tuple[int, int, int]:
    match = _RATIO.fullmatch(split)
    if match is None:
        near = difflib.get_close_matches(split, NAMES, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(f"unknown split {split!r}: {hint}known: {', '.join(NAMES)}, or a ratio train-val-test")
    a, b, c = (int(value) for value in match.groups())
    if not (a and b and c):
        raise ConfigError(f"split {split!r} leaves a part empty: every number must be at least 1")
    return a, b, c
