"""Shuffling the options of a question and reading which one a reply chose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from string import ascii_uppercase

from reflact.core.hashing import text_digest
from reflact.core.types import Item

_EMPHASIS = "*_`$ \t"
# `B`, `(B)`, `B.`, `B)`, `Option B`, each also followed by a text that must then be the option's own.
_LABEL = re.compile(r"(?:option\s+)?(?:\(\s*([a-z])\s*\)[.:]?|([a-z])(?:[.):]|\s*$))(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Options:
    """A question's options as one student sees them.

    Attributes:
        texts: The options in the order of their labels A, B, C, ...
        right: Label of the right one.
    """

    texts: tuple[str, ...]
    right: str

    @property
    def labels(self) -> str:
        """The labels in order."""
        return ascii_uppercase[: len(self.texts)]

    def listing(self) -> str:
        """Return the options as a list for the prompt."""
        return "\n".join(f"({label}) {text}" for label, text in zip(self.labels, self.texts, strict=True))

    def read(self, answer: str) -> str | None:
        """Return the label that an answer names, by letter or by the option's exact text; None if it names none."""
        plain = answer.strip(_EMPHASIS + "\r\n")
        texts = {squeeze(text): label for label, text in zip(self.labels, self.texts, strict=True)}
        if (label := texts.get(squeeze(answer)) or texts.get(squeeze(plain))) is not None:
            return label
        match = _LABEL.fullmatch(plain)
        if match is None:
            return None
        label = (match.group(1) or match.group(2)).upper()
        rest = squeeze(match.group(3).strip(_EMPHASIS))
        if label not in self.labels or (rest and texts.get(rest) != label):
            return None
        return label


def shuffled(item: Item, seed: int) -> Options:
    """Return the item's options in the order of this rollout.

    The order is `Random(int(sha256(f"{seed}:{id}")[:16], 16)).shuffle`, so that it depends on seed and id alone.
    """
    order = list(item.data["options"])
    Random(int(text_digest(f"{seed}:{item.id}")[:16], 16)).shuffle(order)
    return Options(tuple(order), ascii_uppercase[order.index(item.gold[0])])


def squeeze(text: str) -> str:
    """Return the text with single blanks."""
    return " ".join(text.split())
