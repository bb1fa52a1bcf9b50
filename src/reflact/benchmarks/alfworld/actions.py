"""Finding the command in a student's reply."""

from __future__ import annotations

import re

FALLBACK = "look"
"""Played where a reply holds no command."""

_TAG = re.compile(r"<\s*(/?)\s*action\s*>", re.IGNORECASE)
_THINK = re.compile(r"<\s*(/?)\s*think\s*>", re.IGNORECASE)


def find_action(reply: str | None) -> str | None:
    """Return the content of the last complete action tag outside the thoughts, without blanks around it.

    None if there is none or it is empty. Nothing else is changed: a command must be one of the possible ones letter by
    letter.
    """
    found, opened = None, None
    text = _said_aloud("" if reply is None else reply)
    for match in _TAG.finditer(text):
        if match.group(1):
            if opened is not None:
                found = text[opened : match.start()].strip()
            opened = None
        else:
            opened = match.end()
    return found if found else None


def _said_aloud(text: str) -> str:
    """Return what stands outside the thoughts, which may not have been begun aloud, or go on to the end."""
    said: list[str] = []
    place, thinking = 0, False
    for mark in _THINK.finditer(text):
        if not mark.group(1):
            if not thinking:
                said.append(text[place : mark.start()])
            thinking = True
            continue
        if not thinking:
            said.clear()  # all before it was thought
        place, thinking = mark.end(), False
    return " ".join(said if thinking else [*said, text[place:]])
