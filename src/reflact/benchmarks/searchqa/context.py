"""Cutting search snippets to a length."""

from __future__ import annotations

import re

CUT_MARK = " [cut]"
_BORDER = re.compile(r"\[DOC\]")


def cut_context(context: str, limit: int) -> str:
    """Return at most `limit` characters of a context: as many whole `[DOC]` documents as fit, from the first on.

    A first document that alone is longer is cut hard and ends in a mark, which counts.
    """
    if len(context) <= limit:
        return context
    whole = ""
    for border in _BORDER.finditer(context):
        before = context[: border.start()].rstrip()
        if len(before) > limit:
            break
        whole = before
    return whole if whole.strip() else context[: limit - len(CUT_MARK)] + CUT_MARK
