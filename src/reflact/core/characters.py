"""Texts that can be written and sent: JSON may spell half of a character, and no file or request can carry that."""

from __future__ import annotations


def whole(text: str) -> str:
    """Return the text with halves that belong together as one character, and the mark U+FFFD for every other half."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
