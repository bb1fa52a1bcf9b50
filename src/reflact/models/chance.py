"""Chance without a random generator: a number that depends on its arguments alone, not on who asked before."""

from __future__ import annotations

from reflact.core.hashing import digest
from reflact.core.types import Json

_BITS = 52


def chance(*key: Json) -> float:
    """Return a number in [0, 1), evenly spread over keys; same key, same number, in any process."""
    return int(digest(list(key))[: _BITS // 4], 16) / 2.0**_BITS
