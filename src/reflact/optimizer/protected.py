"""The protected block of a skill: slow-update guidance that no edit and no rewrite may touch.

A block runs from a start marker to the next end marker. Where markers are nested, the innermost pair is the
block; a marker without a partner is *stray*: it holds nothing, but nothing may touch it either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflact.core.hashing import text_digest

START = "<!-- reflact:slow-update:start -->"
END = "<!-- reflact:slow-update:end -->"

_MARKER = re.compile(f"{re.escape(START)}|{re.escape(END)}")
_NEUTRAL = {START: "(slow-update start)", END: "(slow-update end)"}


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open interval of a text: a block with its markers, or one stray marker."""

    start: int
    end: int
    is_block: bool

    def overlaps(self, start: int, end: int) -> bool:
        """Whether `[start, end)` shares a character with it; an empty interval does if it lies strictly inside."""
        return start < self.end and self.start < end


@dataclass(frozen=True, slots=True)
class Cut:
    """A skill without its protected blocks, and what `put_back` needs to restore them.

    Attributes:
        outside: The text around the blocks.
        block: The blocks' text, `""` if there are none.
        pieces: Each block with its place in `outside`.
    """

    outside: str
    block: str
    pieces: tuple[tuple[int, str], ...]


def spans(text: str) -> tuple[Span, ...]:
    """Return everything protected in a text, in order."""
    found: list[Span] = []
    opened: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        if marker.group() == END and opened is not None:
            found.append(Span(opened.start(), marker.end(), is_block=True))
            opened = None
            continue
        if opened is not None:
            found.append(Span(opened.start(), opened.end(), is_block=False))
            opened = None
        if marker.group() == START:
            opened = marker
        else:
            found.append(Span(marker.start(), marker.end(), is_block=False))
    if opened is not None:
        found.append(Span(opened.start(), opened.end(), is_block=False))
    return tuple(sorted(found, key=lambda span: span.start))


def blocks(text: str) -> tuple[Span, ...]:
    """Return the complete blocks of a text, in order."""
    return tuple(span for span in spans(text) if span.is_block)


def neutralise(content: str) -> str:
    """Return a text in which markers are plain words, so that it cannot open or close a block."""
    return _MARKER.sub(lambda marker: _NEUTRAL[marker.group()], content)


def guidance(text: str) -> str | None:
    """Return what the protected block holds (`""` if it is empty), or None if there is no block.

    The contents of several blocks are joined by a blank line.
    """
    found = blocks(text)
    if not found:
        return None
    contents = (text[span.start + len(START) : span.end - len(END)].strip() for span in found)
    return "\n\n".join(content for content in contents if content)


def ensure_block(text: str) -> str:
    """Return the text with exactly one protected block and no stray marker.

    A well-formed text comes back unchanged; without a block, an empty one is added at the end.
    """
    found = spans(text)
    if len(found) == 1 and found[0].is_block:
        return text
    content = guidance(text)
    return with_guidance(text, "" if content is None else content)


def with_guidance(text: str, content: str) -> str:
    """Return the text with `content` in its protected block, which is made if there is none.

    Markers inside `content` and stray ones become plain words; blocks beyond the first are removed.
    """
    block = _block(content)
    found = spans(text)
    first = next((span for span in found if span.is_block), None)
    parts: list[str] = []
    position = 0
    for span in found:
        parts.append(text[position : span.start])
        if span is first:
            parts.append(block)
        elif span.is_block:
            # A line end in its place, so that the texts around it cannot join to a new marker.
            parts.append("\n")
        else:
            parts.append(neutralise(text[span.start : span.end]))
        position = span.end
    parts.append(text[position:])
    joined = "".join(parts)
    return joined if first is not None else _at_end(joined, block)


def cut(text: str) -> Cut:
    """Take the protected blocks out, so that the rest can be given away to be rewritten."""
    outside: list[str] = []
    pieces: list[tuple[int, str]] = []
    position = length = 0
    for span in blocks(text):
        part = text[position : span.start]
        outside.append(part)
        length += len(part)
        pieces.append((length, text[span.start : span.end]))
        position = span.end
    outside.append(text[position:])
    return Cut("".join(outside), "".join(block for _, block in pieces), tuple(pieces))


def put_back(text: str, former: Cut) -> str:
    """Put the blocks of `former` back, byte for byte.

    Into the unchanged text they go where they were; into a new one they go to its end. Markers that the new
    text holds of its own become plain words.
    """
    if text == former.outside:
        parts: list[str] = []
        position = 0
        for offset, block in former.pieces:
            parts += [text[position:offset], block]
            position = offset
        return "".join([*parts, text[position:]])
    restored = neutralise(text)
    for _, block in former.pieces:
        restored = _at_end(restored, block)
    return restored


def skill_key(text: str) -> str:
    """Return the hash under which a skill's evaluations are kept.

    An empty protected block and line ends at the end of the text are left out: skills that differ only there
    are the same skill.
    """
    parts: list[str] = []
    position = 0
    for span in blocks(text):
        if not text[span.start + len(START) : span.end - len(END)].strip():
            parts.append(text[position : span.start])
            position = span.end
    parts.append(text[position:])
    return text_digest("".join(parts).rstrip("\n"))


def _block(content: str) -> str:
    body = neutralise(content).strip()
    return f"{START}\n{body}\n{END}" if body else f"{START}\n{END}"


def _at_end(text: str, block: str) -> str:
    head = text.rstrip("\n")
    return f"{head}\n\n{block}\n" if head else f"{block}\n"
