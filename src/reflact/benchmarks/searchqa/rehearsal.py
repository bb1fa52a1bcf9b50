"""Simulated replies and the hidden rules of a rehearsal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from reflact.benchmarks.text_scores import exact_match, normalise
from reflact.core.hashing import digest
from reflact.core.types import Item, Rule

RULES = (
    Rule("Drop titles, articles and first names that the clue does not ask for.", 0.15),
    Rule("Prefer the name that stands in several results over one that stands in a single result.", 0.12),
    Rule("Copy the spelling of the results, letter by letter.", 0.10),
    Rule("When the clue says 'this' before a noun, the answer is of the kind that the noun names.", 0.10),
    Rule("Never explain inside the answer tags.", 0.08),
)
_WRONG = ("a lighthouse keeper", "the seventh valley", "nobody in particular", "an unnamed river", "1066 and all that")


def rehearse(item: Item, correct: bool, seed: int) -> str:
    """Return a reply that scoring finds right or wrong; the same for the same arguments."""
    random = Random(digest(["searchqa", item.id, correct, seed]))
    if correct:
        answer = random.choice([gold for gold in item.gold if normalise(gold)] or list(item.gold))
    else:
        answer = random.choice(_wrong(item.gold))
    return f"The results point to one name.\n<answer>{answer}</answer>"


def _wrong(golds: Sequence[str]) -> list[str]:
    wrong = [answer for answer in _WRONG if not exact_match(answer, golds)]
    # Golds that cover the whole list are absurd, but a simulated failure must fail all the same.
    return wrong or [f"none of {len(golds)} names"]
