"""Text and JSON as bytes, always UTF-8, whatever the locale says."""

from __future__ import annotations

import json

from reflact.core.types import Json


def text_bytes(text: str) -> bytes:
    r"""Return a text's UTF-8 bytes.

    A lone surrogate (a byte of a file name that is not UTF-8, or half of a pair cut by a model) has no UTF-8 form; it
    is written as its escape `\udcXX`. Inside a JSON string that escape *is* the surrogate, so JSON loses nothing.
    """
    return text.encode("utf-8", "backslashreplace")


def json_bytes(value: Json, indent: int | None = None) -> bytes:
    """Return a value's JSON with a trailing newline, keys in the order given, non-ASCII characters as they are.

    Raises:
        ValueError: The value holds NaN or an infinity, which JSON does not have.
        TypeError: The value is not JSON-like.
    """
    return text_bytes(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent) + "\n")
