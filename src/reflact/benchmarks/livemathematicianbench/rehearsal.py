"""Simulated replies and the hidden rules of a rehearsal."""

from __future__ import annotations

from random import Random

from reflact.benchmarks.livemathematicianbench.options import shuffled
from reflact.core.hashing import digest
from reflact.core.types import Item, Rule

RULES = (
    Rule("Test every option on the smallest case in which it says anything.", 0.15),
    Rule("A strict inequality needs a case of equality to be ruled out.", 0.12),
    Rule("Of two true options, the one that implies the other is the answer.", 0.10),
    Rule("Check in which order the quantifiers stand before comparing constants.", 0.10),
    Rule("An option that drops a hypothesis of the question is wrong unless it is proved.", 0.08),
)


def rehearse(item: Item, correct: bool, seed: int) -> str:
    """Return a reply that scoring finds right or wrong under the options' order of `seed`."""
    options = shuffled(item, seed)
    label = options.right
    if not correct:
        wrong = [other for other in options.labels if other != options.right]
        label = Random(digest(["livemathematicianbench", item.id, seed])).choice(wrong)
    return f"Comparing the options leaves one of them.\n<answer>{label}</answer>"
