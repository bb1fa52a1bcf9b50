"""Finding the answer in a student's reply."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(r"<\s*(/?)\s*answer\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer found in a reply.

    Attributes:
        text: The answer without surrounding blanks, possibly `""`; None if the reply holds nothing at all.
        tagged: It stood in a complete `<answer>` tag.
    """

    text: str | None
    tagged: bool


def last_tag(reply: str) -> str | None:
    """Return the content of the last complete `<answer>...</answer>`, any case, across lines; None if there is none.

    An opening tag counts only if the next tag closes it, so that "put it in <answer> tags: <answer>x</answer>"
    gives `x`.
    """
    found, opened = None, None
    for match in _TAG.finditer(reply):
        if match.group(1):
            if opened is not None:
                found = reply[opened : match.start()]
            opened = None
        else:
            opened = match.end()
    return None if found is None else found.strip()


def last_line(reply: str) -> str | None:
    """Return the last line that is not blank, without stray answer tags; None if there is none."""
    lines = [line for line in (_TAG.sub(" ", line).strip() for line in reply.splitlines()) if line]
    return lines[-1] if lines else None


def extract(reply: str) -> Extraction:
    """Return the content of the last complete answer tag, else the last line that is not blank."""
    tagged = last_tag(reply)
    if tagged is not None:
        return Extraction(tagged, tagged=True)
    return Extraction(last_line(reply), tagged=False)
