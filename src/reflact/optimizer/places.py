"""Where text goes in a Markdown document."""

from __future__ import annotations

import re

_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def occurrences(text: str, target: str) -> list[int]:
    """Return where `target` begins in `text`, overlapping matches included (`aa` is twice in `aaa`)."""
    places: list[int] = []
    place = text.find(target)
    while place >= 0:
        places.append(place)
        place = text.find(target, place + 1)
    return places


def append_text(text: str, content: str, offset: int) -> str:
    """Return `text` with `content` as lines of its own before `offset`.

    A list item follows a list item on the next line; everything else is set off by a blank line.
    """
    head, tail = text[:offset].rstrip("\n"), text[offset:]
    body = content.strip("\n")
    gap = "\n\n" if tail else "\n"
    if not head:
        return f"{body}{gap}{tail}"
    joint = "\n" if _LIST_ITEM.match(head.rsplit("\n", 1)[-1]) and _LIST_ITEM.match(body) else "\n\n"
    return f"{head}{joint}{body}{gap}{tail}"


def insert_line(text: str, content: str, after: int) -> tuple[int, str]:
    """Return where and what to insert so that `content` follows the line that holds the character before `after`."""
    body = content.strip("\n")
    if text[after - 1] == "\n":
        return after, f"{body}\n"
    end = text.find("\n", after)
    if end < 0:
        return len(text), f"\n{body}"
    return end + 1, f"{body}\n"
