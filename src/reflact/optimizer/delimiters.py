"""Marking data inside a prompt so that the data cannot pretend to end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reflact.core.hashing import text_digest
from reflact.core.types import Json

_MARK_CHARS = 12
_NOTHING = "(none)"


@dataclass(frozen=True, slots=True)
class Fence:
    """The delimiter of one prompt: `<data-MARK name="...">` ... `</data-MARK>`.

    The mark is a hash of everything that goes into the prompt and occurs nowhere in it, so no text can hold the
    closing delimiter; being a hash, it is the same whenever the prompt is.
    """

    mark: str

    @classmethod
    def around(cls, values: Mapping[str, Json]) -> Fence:
        """Choose the mark for a prompt made of these values."""
        texts = list(_texts(values.values()))
        # Line ends between the texts and a running number leave no way to steer the hash.
        content = "\n".join(f"{len(text)}:{text}" for text in texts)
        number = 0
        while True:
            mark = text_digest(f"{number}\n{content}")[:_MARK_CHARS]
            if not any(mark in text for text in texts):
                return cls(mark)
            number += 1

    def wrap(self, text: str | None, name: str) -> str:
        """Return a text between its delimiters, line ends at its end left out; nothing reads `(none)`."""
        shown = (text or "").rstrip("\n") or _NOTHING
        return f'<data-{self.mark} name="{name}">\n{shown}\n</data-{self.mark}>'


def _texts(values: Iterable[Json]) -> Iterable[str]:
    """Return every text in nested values, keys left out."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _texts(value)
