from __future__ import annotations

import gzip
import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.files import read_json, read_records, read_text
from reflact.core.errors import DataError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
records = st.lists(
    st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=4), values, max_size=3), max_size=5
)


def write(folder: Path, text: str, name: str = "items.json") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@given(records, st.sampled_from([None, 0, 1, 4]))
def test_an_array_reads_as_json_reads_it(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[Any], indent: int | None
) -> None:
    path = write(tmp_path_factory.getbasetemp(), json.dumps(wanted, indent=indent), "given.json")
    assert [fields.record for fields in read_records(path)] == wanted


@given(records)
def test_lines_read_as_json_reads_them(tmp_path_factory: pytest.TempPathFactory, wanted: list[Any]) -> None:
    text = "\n\n".join(json.dumps(record, ensure_ascii=False) for record in wanted)
    path = write(tmp_path_factory.getbasetemp(), text, "given.jsonl")
    assert [fields.record for fields in read_records(path)] == wanted


def test_a_record_knows_the_line_on_which_it_begins(tmp_path: Path) -> None:
    path = write(tmp_path, '[\n {"id": "a",\n  "n": 1},\n\n {"id": "b"}\n]')
    assert [str(fields) for fields in read_records(path)] == [f"{path}:2 (id 'a')", f"{path}:5 (id 'b')"]


def test_gzip_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl.gz"
    path.write_bytes(gzip.compress('\ufeff{"id": "李"}\n'.encode()))
    assert read_records(path)[0].record == {"id": "李"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "a JSON array"),
        ('{"id": 1}', 1, "a JSON array"),
        ('[\n{"id": 1}\n{"id": 2}]', 3, "`,` or `]`"),
        ('[\n{"id": 1},\n]', 3, "Expecting value"),
        ('[\n{"id": 1}', 2, "`,` or `]`"),
        ('[{"id": 1}]\n\nx', 3, "text after the end"),
        ('[\n{"id": tru}]', 2, "Expecting value"),
        ("[\n1]", 2, "entry 1 must be an object, not int 1"),
        ('[{},\n"x"]', 2, "entry 2 must be an object, not a text"),
    ],
)
def test_a_malformed_array_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read_records(path)
    assert f"{path}:{line}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_malformed_line_is_refused_with_its_number(tmp_path: Path) -> None:
    path = write(tmp_path, '{"id": 1}\n\n{"id": ', "items.jsonl")
    with pytest.raises(DataError, match=r"items\.jsonl:3: not valid JSON"):
        read_records(path)


def test_unreadable_files_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b"[\xe4]")
    (tmp_path / "torn.json.gz").write_bytes(gzip.compress(b"[]" * 100)[:20])
    (tmp_path / "plain.json.gz").write_bytes(b"[]")
    packed = gzip.compress(json.dumps(list(range(500))).encode())
    # A block of a kind that does not exist.
    (tmp_path / "flipped.json.gz").write_bytes(packed[:10] + b"\xff" + packed[11:])
    for name, message in {
        "none.json": "there is no such file",
        "latin.json": "not UTF-8 text: byte 1",
        "torn.json.gz": "not a whole gzip file",
        "plain.json.gz": "not a whole gzip file",
        "flipped.json.gz": "not a whole gzip file",
    }.items():
        with pytest.raises(DataError, match=message) as caught:
            read_text(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(DataError, match="this is a folder"):
        read_text(tmp_path)


def test_one_value_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"items\.json:2: not valid JSON"):
        read_json(write(tmp_path, "{\n"))


@pytest.mark.parametrize("value", ["[" * 200_000, '{"a":' * 100_000, "9" * 5000])
def test_what_python_cannot_read_is_refused_too(tmp_path: Path, value: str) -> None:
    path = tmp_path / "items.json"
    for text in (value, f'[{{"id": "a"}},\n{value}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"items\.json:[12]: not valid JSON"):
            read_json(path)
        with pytest.raises(DataError, match=r"items\.json:[12]: "):
            read_records(path)
    lines = tmp_path / "items.jsonl"
    lines.write_text(f'{{"id": "a"}}\n{value}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"items\.jsonl:2: "):
        read_records(lines)


def test_half_of_a_character_is_refused_where_it_stands(tmp_path: Path) -> None:
    array = '[{"id": "a", "q": "\\ud83d\\ude00"},\n {"id": "b", "q": ["\\uD83D?"]}]'
    with pytest.raises(DataError, match=r"items\.json:2: \\ud83d is half of a pair and no character"):
        read_records(write(tmp_path, array))
    with pytest.raises(DataError, match=r"items\.json:1: \\udc00 is half"):
        read_json(write(tmp_path, '["a\\udc00"]'))
    with pytest.raises(DataError, match=r"items\.jsonl:1: \\ude00 is half"):
        read_records(write(tmp_path, '{"\\ude00": 1}', "items.jsonl"))


def test_whole_pairs_and_their_spelling_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, '[{"id": "\\ud83d\\ude00"}, {"id": "\\\\ud83d"}]')
    assert [fields.record["id"] for fields in read_records(path)] == ["\U0001f600", "\\ud83d"]
    assert read_json(path) == [{"id": "\U0001f600"}, {"id": "\\ud83d"}]
