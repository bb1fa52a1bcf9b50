"""Simulated replies and the hidden rules of a rehearsal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from reflact.benchmarks.docvqa.anls import anls
from reflact.core.hashing import digest
from reflact.core.types import Item, Rule

RULES = (
    Rule("In a table, find the row and the column by their headings, then read the cell where they meet.", 0.15),
    Rule("Copy the value as it is printed, with its currency sign, unit and punctuation.", 0.12),
    Rule("Leave out the label that stands before a value.", 0.10),
    Rule("Of several dates on a page, take the one whose label the question names.", 0.10),
    Rule("Look at the letterhead and below the signature for names and places.", 0.08),
)
_WRONG = ("an inkwell of brass", "page 999 of the annex", "quarterly lighthouse", "$0.00 (void)", "zzyzx & sons")


def rehearse(item: Item, correct: bool, seed: int) -> str:
    """Return a reply that scoring finds right or wrong; the same for the same arguments."""
    random = Random(digest(["docvqa", item.id, correct, seed]))
    answer = random.choice(list(item.gold) if correct else _wrong(item.gold))
    return f"The page shows it.\n<answer>{answer}</answer>"


def _wrong(golds: Sequence[str]) -> list[str]:
    wrong = [answer for answer in _WRONG if anls(answer, golds) == 0]
    # Golds that are near the whole list are absurd, but a simulated failure must fail all the same.
    return wrong or ["#" * (2 + 2 * max(map(len, golds), default=0))]
