"""Numbers in the files of runs, which something other than reflact may have changed."""

from __future__ import annotations

from math import isfinite

_MOST = 10**18
"""No count of a run is larger; sums of so many are still exact enough, and no format stumbles over them."""


def number(value: object) -> float | None:
    """Return a finite number, None for anything else: a text, a truth value, a number beyond bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) and abs(found) <= _MOST else None


def whole(value: object) -> int | None:
    """Return a whole number, None for anything that `number` does not take; a fraction is cut off."""
    found = number(value)
    return None if found is None else int(found)
