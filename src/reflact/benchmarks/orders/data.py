"""The items of the orders task, made from word lists: same arguments, same items."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reflact.benchmarks.orders.words import CITIES, DAYS, DUE_FRAMES, FRAMES, NAMES, NUMBERS, WARES
from reflact.core.names import Part
from reflact.core.types import Item

SIZES: Mapping[str, Mapping[Part, int]] = {
    "small": {Part.TRAIN: 16, Part.VAL: 32, Part.TEST: 64},
    "large": {Part.TRAIN: 80, Part.VAL: 80, Part.TEST: 240},
}
SEPARATOR = " | "
"""Between the fields of a record."""


@dataclass(frozen=True, slots=True)
class _Pools:
    """The words that one part may use."""

    cities: Sequence[str]
    wares: Sequence[str]
    names: Sequence[str]


def make_items(size: str, *, due: bool, seed: int = 0) -> dict[Part, tuple[Item, ...]]:
    """Make all parts.

    Args:
        size: A key of `SIZES`.
        due: Add a weekday to every order and its record.
        seed: Seed of the items; the shipped task is the one of seed 0.
    """
    rng = random.Random(f"reflact/orders/{size}/{due}/{seed}")
    pools = _deal(rng)
    return {part: _part(rng, part, count, pools[part], due) for part, count in SIZES[size].items()}


def _deal(rng: random.Random) -> dict[Part, _Pools]:
    """Give every part words of its own."""
    shuffled = [rng.sample(pool, len(pool)) for pool in (CITIES, WARES, NAMES)]
    bounds = {Part.TRAIN: slice(0, 8), Part.VAL: slice(8, 16), Part.TEST: slice(16, None)}
    return {part: _Pools(*(pool[bound] for pool in shuffled)) for part, bound in bounds.items()}


def _part(rng: random.Random, part: Part, count: int, pools: _Pools, due: bool) -> tuple[Item, ...]:
    frames = DUE_FRAMES if due else FRAMES
    made: dict[str, tuple[str, str]] = {}  # sentence -> (record, task type): no sentence twice
    while len(made) < count:
        # Frames go round so that every part, however small, shows nearly all of them equally often.
        sentence, record, kind = _order(rng, frames[len(made) % len(frames)], pools, due)
        made.setdefault(sentence, (record, kind))
    order = rng.sample(list(made.items()), count)
    width = len(str(count - 1))
    return tuple(
        Item(id=f"{part.value}-{n:0{width}d}", question=sentence, gold=(record,), task_type=kind)
        for n, (sentence, (record, kind)) in enumerate(order)
    )


def _order(rng: random.Random, frame: str, pools: _Pools, due: bool) -> tuple[str, str, str]:
    """Return a sentence, its record, and whether the quantity is written in `digits` or in `words`."""
    number = rng.choice(list(NUMBERS))
    kind = rng.choice(("digits", "words"))
    shown = NUMBERS[number] if kind == "words" else str(number)
    city, ware, name, day = (rng.choice(pool) for pool in (pools.cities, pools.wares, pools.names, DAYS))
    text = frame.format(n=shown, ware=ware, city=city, name=name, day=day)
    fields = [str(number), ware, city] + ([day[:3].upper()] if due else [])
    return f"Order: {text[0].upper()}{text[1:]}", SEPARATOR.join(fields), kind
