"""The scorer against a second one, written from the rules alone and cell by cell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, time
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook
from openpyxl.utils import column_index_from_string, get_column_letter

from reflact.benchmarks.spreadsheetbench.inside.compare import compare, expected_cells, problem_of
from reflact.benchmarks.spreadsheetbench.inside.positions import parse
from reflact.benchmarks.spreadsheetbench.inside.reading import Book

from .support import book

COLUMNS, ROWS = "ABCD", range(1, 6)
values = st.one_of(
    st.none(),
    st.sampled_from(["", "x", "X", "1", "1.00", " 1", "0", "yes", "TRUE", "12:30", "nan"]),
    st.sampled_from([0, 1, 1.0, 1.004, 1.006, -2.5, 100, True, False, 45292]),
    st.sampled_from([datetime(2024, 1, 1), datetime(2024, 1, 1, 11), datetime(2024, 1, 1, 13), datetime(2024, 1, 2)]),
    st.sampled_from([time(12, 30), time(12, 30, 40), time(1, 2)]),
)
places = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(ROWS)).map(lambda place: f"{place[0]}{place[1]}")
cells = st.dictionaries(places, values, max_size=8)
ranges = st.one_of(
    places,
    st.tuples(places, places).map(":".join),
    st.tuples(st.sampled_from(COLUMNS), st.sampled_from(COLUMNS)).map(lambda pair: ":".join(sorted(pair))),
    st.tuples(places, st.integers(1, 5)).map(lambda pair: f"{pair[0]}:{pair[1]}"),
)
parts = st.tuples(st.sampled_from(["", "One!", "'Two words'!"]), ranges).map("".join)
positions = st.lists(parts, min_size=1, max_size=3).map(",".join)


class Second:
    """The second scorer: expands every range to names and looks each of them up."""

    def __init__(self, golden: Path, produced: Path) -> None:
        self.golden, self.produced = (load_workbook(path, data_only=True) for path in (golden, produced))

    def passes(self, position: str) -> bool:
        return all(self._part(part.strip()) for part in position.split(","))

    def _part(self, part: str) -> bool:
        sheet, cells = part.split("!") if "!" in part else (self.golden.sheetnames[0], part)
        left, right = self.golden[sheet.strip("'")], self.produced[sheet.strip("'")]
        last = max(left.max_row, right.max_row)
        return all(self._equal(left[name].value, right[name].value) for name in self._names(cells, last))

    @staticmethod
    def _names(cells: str, last: int) -> list[str]:
        corners = [re.fullmatch("([A-Z]*)([0-9]*)", corner) for corner in cells.split(":")]
        first, end = corners[0], corners[-1]
        assert first is not None
        assert end is not None
        letters = [first[1], end[1] or first[1]]
        low, high = sorted(map(column_index_from_string, letters))
        top, bottom = sorted((int(first[2] or 1), int(end[2] or last)))
        return [
            f"{get_column_letter(column)}{row}" for column in range(low, high + 1) for row in range(top, bottom + 1)
        ]

    def _equal(self, left: Any, right: Any) -> bool:
        return self._told(left) == self._told(right)

    @staticmethod
    def _told(value: Any) -> tuple[str, str]:
        if value is None or value == "":
            return "nothing", ""
        if isinstance(value, datetime):
            days = (value - datetime(1899, 12, 30)).total_seconds() / 86400
            return "number", f"{round(days):.2f}"
        if isinstance(value, time):
            return "text", value.strftime("%H:%M")
        if isinstance(value, str):
            try:
                number = float(value)
            except ValueError:
                return "text", value
            return ("text", value) if math.isnan(number) else ("number", f"{round(number, 2):.2f}")
        return "number", f"{round(float(value), 2):.2f}"


@settings(max_examples=60)
@given(cells, st.dictionaries(places, values, max_size=3), cells, positions)
def test_both_scorers_agree(first: Mapping[str, Any], changes: Mapping[str, Any], second: Any, position: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        both = {f"One!{place}": value for place, value in first.items()}
        both |= {f"Two words!{place}": value for place, value in second.items()}
        golden = book(Path(folder) / "golden.xlsx", both, "One", "Two words")
        changed = both | {f"One!{place}": value for place, value in changes.items()}
        produced = book(Path(folder) / "produced.xlsx", changed, "One", "Two words")
        areas = parse(position)
        expected = expected_cells(Book(golden), areas)
        verdict = compare(expected, Book(produced), areas)
        assert problem_of(expected) == ""
        assert (verdict["state"] == "pass") is Second(golden, produced).passes(position)


def judged(folder: Path, golden: Mapping[str, Any], produced: Mapping[str, Any], position: str = "A1:B3") -> Any:
    areas = parse(position)
    expected = expected_cells(Book(book(folder / "golden.xlsx", golden)), areas)
    problem = problem_of(expected)
    return problem or compare(expected, Book(book(folder / "produced.xlsx", produced)), areas)


def test_a_reference_with_a_formula_without_result_cannot_be_compared(tmp_path: Path) -> None:
    golden = {"A1": 1, "A2": 2, "B1": "=SUM(A1:A2)"}
    for produced in ({"A1": 1, "A2": 2, "B1": 3}, golden, {"A1": 1, "A2": 2}):
        assert judged(tmp_path, golden, produced) == (
            "1 formulas of the reference have no saved result, the first in Sheet1!B1"
        )
    assert judged(tmp_path, golden, {"A1": 1, "A2": 2}, "A1:A2")["state"] == "pass"


def test_a_produced_formula_equals_nothing(tmp_path: Path) -> None:
    verdict = judged(tmp_path, {"A1": 1}, {"A1": 1, "B2": "=A1"})
    assert (verdict["state"], verdict["unevaluated"]) == ("fail", 1)
    assert verdict["first"] == "Sheet1!B2, which holds a formula without a saved result"


def test_a_saved_result_that_is_an_empty_text_is_a_result(tmp_path: Path) -> None:
    import zipfile

    source = book(tmp_path / "source.xlsx", {"A1": 1, "B1": "=LEFT(A1,0)"})
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "golden.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = re.sub(
                    rb'<c r="B1"[^>]*><f>([^<]*)</f><v ?/?>(?:</v>)?', rb'<c r="B1" t="str"><f>\1</f><v></v>', content
                )
            new.writestr(name, content)
    areas = parse("B1")
    expected = expected_cells(Book(tmp_path / "golden.xlsx"), areas)
    assert problem_of(expected) == ""
    assert compare(expected, Book(book(tmp_path / "p.xlsx", {"A1": 1})), areas)["state"] == "pass"


def test_sheets_that_are_missing(tmp_path: Path) -> None:
    assert judged(tmp_path, {"A1": 1}, {"A1": 1}, "Other!A1") == "the reference has no sheet 'Other'"
    areas = parse("A1")
    expected = expected_cells(Book(book(tmp_path / "golden.xlsx", {"A1": 1}, "Mine")), areas)
    verdict = compare(expected, Book(book(tmp_path / "produced.xlsx", {"A1": 1}, "Yours")), areas)
    assert (verdict["state"], verdict["note"]) == ("fail", "there is no sheet 'Mine'")
    again = compare(expected, Book(book(tmp_path / "again.xlsx", {"A1": 1}, "mine ")), areas)
    assert again["state"] == "pass"


def test_whole_columns_end_where_either_workbook_ends(tmp_path: Path) -> None:
    assert judged(tmp_path, {"A1": 1}, {"A1": 1, "A9000": 2}, "A:A")["differing"] == 1
    assert judged(tmp_path, {"A1": 1}, {"A1": 1, "B9000": 2}, "A:A")["state"] == "pass"
