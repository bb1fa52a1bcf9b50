"""Finding a sentence that is the right option of many items: a skill can learn to choose it unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reflact.benchmarks.livemathematicianbench.options import squeeze
from reflact.core.types import Item

_LEAST_ITEMS = 3
_LEAST_SHARE = 0.05
_LEAST_PRECISION = 0.5


@dataclass(frozen=True, slots=True)
class ConstantOption:
    """A sentence that is an option of `shown` items and right in `right` of them, of `total` items."""

    text: str
    shown: int
    right: int
    total: int

    def __str__(self) -> str:
        share = self.right / self.total
        return (
            f"the option {self.text!r} is right in {self.right} of the {self.shown} items that have it, "
            f"{share:.0%} of all {self.total} items"
        )


def constant_options(items: Iterable[Item]) -> list[ConstantOption]:
    """Return the sentences that give many items away, most frequent first.

    A sentence counts if it is the right option of at least 3 items and of at least 5% of them, and right in at
    least half of the items that have it, where one of five would be chance.
    """
    pool = list(items)
    shown: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for item in pool:
        shown.update({squeeze(text) for text in item.data["options"]})
        right[squeeze(item.gold[0])] += 1
    return [
        ConstantOption(text, shown[text], count, len(pool))
        for text, count in right.most_common()
        if count >= max(_LEAST_ITEMS, _LEAST_SHARE * len(pool)) and count >= _LEAST_PRECISION * shown[text]
    ]


def holds(item: Item, constants: Sequence[ConstantOption]) -> bool:
    """Whether one of the sentences is an option of the item."""
    texts = {constant.text for constant in constants}
    return any(squeeze(text) in texts for text in item.data["options"])


def note(constants: Sequence[ConstantOption], left_out: Mapping[str, int]) -> dict[str, object]:
    """Return what a manifest says of items that were left out; `left_out` counts them by part or in all."""
    return {"reason": "constant option", "options": [str(constant) for constant in constants], "items": dict(left_out)}
