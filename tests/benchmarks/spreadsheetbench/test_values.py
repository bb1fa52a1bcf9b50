from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import pytest

from reflact.benchmarks.spreadsheetbench.inside.values import NOT_EVALUATED, kind, normal, same

EQUAL: list[tuple[Any, Any]] = [
    (1, 1.0),
    (1, True),
    (0, False),
    (2.344, 2.3401),
    ("2.34", 2.341),
    (" 7 ", 7),
    ("1e3", 1000),
    ("", None),
    (None, None),
    ("", ""),
    ("nan", "nan"),
    (time(9, 5, 59), time(9, 5)),
    (time(9, 5), "09:05"),
    (datetime(2024, 1, 1, 8), datetime(2024, 1, 1)),
    (datetime(2024, 1, 1), 45292),
    (datetime(1899, 12, 31), "1"),
    (10**400, float("inf")),
    (timedelta(1), timedelta(1)),
]
DIFFERENT: list[tuple[Any, Any]] = [
    (1, 1.01),
    (0, None),
    (0, ""),
    ("a", "A"),
    ("a", "a "),
    (" ", None),
    ("yes", True),
    ("nan", None),
    (datetime(2024, 1, 1), datetime(2024, 1, 2)),
    (datetime(2024, 1, 1, 18), datetime(2024, 1, 1)),
    (time(9, 5), time(9, 6)),
    (NOT_EVALUATED, None),
    (NOT_EVALUATED, NOT_EVALUATED),
    (6, NOT_EVALUATED),
    (timedelta(1), 1),
]


@pytest.mark.parametrize(("left", "right"), EQUAL, ids=range(len(EQUAL)))
def test_equal(left: Any, right: Any) -> None:
    assert same(left, right)
    assert same(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_different(left: Any, right: Any) -> None:
    assert not same(left, right)
    assert not same(right, left)


def test_halves_of_days_and_cents_are_rounded_to_even() -> None:
    assert normal(datetime(1900, 1, 1, 12)) == 2.0
    assert normal(datetime(1900, 1, 2, 12)) == 4.0
    assert normal(0.125) == 0.12


def test_kinds_say_nothing_of_the_value() -> None:
    values = (None, "", True, 1, 1.5, "x", datetime(2024, 1, 1), time(1), date(2024, 1, 1), NOT_EVALUATED)
    assert [kind(value) for value in values] == [
        *("nothing", "nothing", "a truth value", "a number", "a number", "a text", "a date", "a time"),
        *("something else", "a formula without a saved result"),
    ]
