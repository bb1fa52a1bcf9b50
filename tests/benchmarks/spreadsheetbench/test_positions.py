from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.spreadsheetbench.inside.positions import LAST_COLUMN, LAST_ROW, Area, cell_name, parse


@pytest.mark.parametrize(
    ("position", "areas"),
    [
        ("B2", [Area(None, 2, 2, 2, 2)]),
        ("b2", [Area(None, 2, 2, 2, 2)]),
        ("$B$2:$C$4", [Area(None, 2, 2, 4, 3)]),
        ("C4:B2", [Area(None, 2, 2, 4, 3)]),
        ("Sheet1!A1", [Area("Sheet1", 1, 1, 1, 1)]),
        ("'My Sheet'!A2:B5", [Area("My Sheet", 2, 1, 5, 2)]),
        ("'Bob''s'!A1", [Area("Bob's", 1, 1, 1, 1)]),
        ("'b2b, sez, de'!A5:V10,C1", [Area("b2b, sez, de", 5, 1, 10, 22), Area(None, 1, 3, 1, 3)]),
        ("A:G", [Area(None, 1, 1, LAST_ROW, 7)]),
        ("2:5", [Area(None, 2, 1, 5, LAST_COLUMN)]),
        ("BD2:308", [Area(None, 2, 56, 308, 56)]),
        ("A2:B", [Area(None, 2, 1, LAST_ROW, 2)]),
        ("A1, B2 ,Two!C3:C4", [Area(None, 1, 1, 1, 1), Area(None, 2, 2, 2, 2), Area("Two", 3, 3, 4, 3)]),
        ("'Sheet1'!'A1:B2'", [Area("Sheet1", 1, 1, 2, 2)]),
        ("Sheet1'!A1:B5", [Area("Sheet1", 1, 1, 5, 2)]),
        ("'Sheet1!A1:B5'", [Area("Sheet1", 1, 1, 5, 2)]),
        ("What!now!A1", [Area("What!now", 1, 1, 1, 1)]),
        ("A1,", [Area(None, 1, 1, 1, 1)]),
        ("Bob's!A1,C2", [Area("Bob's", 1, 1, 1, 1), Area(None, 2, 3, 2, 3)]),
    ],
)
def test_by_hand(position: str, areas: list[Area]) -> None:
    assert list(parse(position)) == areas


@pytest.mark.parametrize(
    "position", ["", " , ", "A", "7", "A1:B2:C3", "A0", "ABCD1", "XFE1", "A1048577", "the first", "A1-B2"]
)
def test_what_is_none_is_refused(position: str) -> None:
    with pytest.raises(ValueError, match=r"answer position|not a cell|outside a sheet"):
        parse(position)


corners = st.tuples(st.integers(1, LAST_ROW), st.integers(1, LAST_COLUMN))
names = st.text(st.characters(codec="utf-8", exclude_characters="'\"‘’“”`!", exclude_categories=("C", "Z")), min_size=1)


@given(st.lists(st.tuples(st.none() | names, corners, corners), min_size=1, max_size=4))
def test_what_is_written_is_read(parts: list[tuple[str | None, tuple[int, int], tuple[int, int]]]) -> None:
    written, wanted = [], []
    for sheet, first, last in parts:
        prefix = "" if sheet is None else f"'{sheet}'!"
        written.append(f"{prefix}{cell_name(*first)}:{cell_name(*last)}")
        rows, columns = sorted((first[0], last[0])), sorted((first[1], last[1]))
        wanted.append(Area(sheet, rows[0], columns[0], rows[1], columns[1]))
    assert list(parse(",".join(written))) == wanted


def test_names_of_columns() -> None:
    assert [cell_name(1, number) for number in (1, 26, 27, 52, 702, 703, 16384)] == [
        *("A1", "Z1", "AA1", "AZ1", "ZZ1", "AAA1", "XFD1")
    ]
