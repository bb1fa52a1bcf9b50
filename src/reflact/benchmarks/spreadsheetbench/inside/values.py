"""When two cells count as equal: the rules of SpreadsheetBench's own evaluation (Ma et al., 2024)."""

from __future__ import annotations

import math
from datetime import datetime, time, timedelta
from typing import Any

_FIRST_DAY = datetime(1899, 12, 30)
_DAY = timedelta(days=1)


class NotEvaluated:
    """The value of a formula that was saved without its result; it equals nothing, not even itself."""


NOT_EVALUATED = NotEvaluated()


def normal(value: Any) -> Any:
    """Return what a cell's value is compared as.

    Numbers and booleans are floats with two decimals; dates are whole days since 1899-12-30; times are `HH:MM`; texts
    that read as a number are that number; nothing and an empty text are both None. Anything else is itself.
    """
    if isinstance(value, bool | int | float):
        return _two_decimals(value)
    if isinstance(value, datetime):
        return float(round((value.replace(tzinfo=None) - _FIRST_DAY) / _DAY))
    if isinstance(value, time):
        return f"{value:%H:%M}"
    if isinstance(value, str):
        return _text(value)
    return value


def same(expected: Any, found: Any) -> bool:
    """Whether two cells' values count as equal."""
    if isinstance(expected, NotEvaluated) or isinstance(found, NotEvaluated):
        return False
    left, right = normal(expected), normal(found)
    return type(left) is type(right) and bool(left == right)


def kind(value: Any) -> str:
    """Return in words what a cell holds, without saying what it is."""
    if isinstance(value, NotEvaluated):
        return "a formula without a saved result"
    if value is None or value == "":
        return "nothing"
    kinds = {
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "a text",
        datetime: "a date",
        time: "a time",
    }
    return kinds.get(type(value), "something else")


def _two_decimals(value: float) -> float:
    try:
        return round(float(value), 2)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # a whole number with more digits than a float can hold


def _text(value: str) -> float | str | None:
    if value == "":
        return None
    try:
        number = float(value)
    except ValueError:
        return value
    # `nan` as a number would not even equal itself.
    return value if math.isnan(number) else round(number, 2)
