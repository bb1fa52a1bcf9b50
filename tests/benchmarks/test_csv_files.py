from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.csv_files import parse_rows, write_rows
from reflact.benchmarks.files import read_records
from reflact.core.errors import DataError

PATH = Path("x.csv")
cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(st.lists(st.tuples(cells, cells), max_size=5))
def test_what_is_written_is_read_back(rows: list[tuple[str, str]]) -> None:
    wanted = [dict(zip("ab", row, strict=True)) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        write_rows(path, wanted, ("a", "b"))
        assert [dict(fields.record) for fields in read_records(path)] == wanted


def test_rows_know_the_line_on_which_they_begin() -> None:
    rows = parse_rows('id,text\r\n\r\n1,"two\nlines"\n2,x\n', PATH)
    assert [(fields.line, fields.number, dict(fields.record)) for fields in rows] == [
        (3, 1, {"id": "1", "text": "two\nlines"}),
        (5, 2, {"id": "2", "text": "x"}),
    ]


def test_columns_of_single_rows_come_last(tmp_path: Path) -> None:
    write_rows(tmp_path / "x.csv", [{"b": "1", "a": "2"}, {"c": "3", "a": "4"}], ("a",))
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").split() == ["a,b,c", "2,1,", "4,,3"]


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfid\n1\n")
    assert dict(read_records(tmp_path / "x.csv")[0].record) == {"id": "1"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x\.csv: a header line"),
        ("a,a\n1,2\n", r"x\.csv:1: every column needs a name of its own, not 'a'"),
        ("a,\n1,2\n", r"x\.csv:1: every column needs a name of its own, not ''"),
        ("a,b\n1,2\n3\n", r"x\.csv:3: row 2 has 1 cells, the header names 2"),
        ("a,b\n1,2,3\n", r"x\.csv:2: row 1 has 3 cells"),
        ('a,b\n1,"2\n3', r"x\.csv:2: not valid CSV: unexpected end of data"),
        ('a,b\n1,"2"x\n', r"x\.csv:2: not valid CSV"),
        ("a\n" + "x" * (csv.field_size_limit() + 1), r"x\.csv:2: not valid CSV: field larger than"),
    ],
)
def test_malformed_tables_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_rows(text, PATH)
