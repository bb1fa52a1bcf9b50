from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.searchqa.form import SearchQAFormat
from reflact.core.errors import DataError, Unavailable

from ..support import write_json

FORM = SearchQAFormat()
ROWS: list[dict[str, Any]] = [
    {"key": f"k{n}", "context": f"[DOC] c{n}", "question": f"q{n}", "answers": [f"a{n}", "b"], "labels": [1]}
    for n in range(3)
]


def read(path: Path) -> list[tuple[str, str, tuple[str, ...], Any]]:
    return [
        (record.item.id, record.item.question, record.item.gold, record.item.data["context"])
        for record in FORM.read_source(path)[0]
    ]


WANTED = [(f"k{n}", f"q{n}", (f"a{n}", "b"), f"[DOC] c{n}") for n in range(3)]


def test_json_lines_plain_and_packed(tmp_path: Path) -> None:
    text = "\n".join(map(json.dumps, ROWS))
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert read(tmp_path / "x.jsonl") == read(tmp_path / "x.jsonl.gz") == WANTED


def test_the_collection_s_own_files_are_unfolded(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{"header": {"dataset": "SearchQA", "split": "dev"}}]
    for row in ROWS:
        asked = [{"qid": row["key"], "question": row["question"], "answers": row["answers"], "detected_answers": []}]
        lines.append({"id": "ctx", "context": row["context"], "qas": asked})
    (tmp_path / "SearchQA.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert read(tmp_path / "SearchQA.jsonl") == WANTED


def test_parquet_and_other_subsets(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="absent: pyarrow (the extra `parquet`)")
    table = importlib.import_module("pyarrow").Table
    rows = [{**row, "subset": "SearchQA"} for row in ROWS]
    rows.insert(1, {**ROWS[0], "key": "other", "subset": "HotpotQA"})
    parquet.write_table(table.from_pylist(rows), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == WANTED


def test_a_bad_row_of_a_table_is_named(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="absent: pyarrow (the extra `parquet`)")
    table = importlib.import_module("pyarrow").Table
    parquet.write_table(table.from_pylist([*ROWS, {**ROWS[0], "key": "k9", "answers": None}]), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"x\.parquet, row 4 \(id 'k9'\): the field 'answers' must be a list"):
        read(tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match=r"y\.parquet: not a Parquet file"):
        read(tmp_path / "y.parquet")
    with pytest.raises(DataError, match=r"z\.parquet: there is no such file"):
        read(tmp_path / "z.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, package: str | None = None) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(Unavailable, match=r"pip install 'reflact\[parquet\]'"):
        read(tmp_path / "x.parquet")


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    write_json(tmp_path / "b.json", ROWS[1:])
    write_json(tmp_path / "a.json", ROWS[:1])
    records, files = FORM.read_source(tmp_path)
    assert [record.item.id for record in records] == ["k0", "k1", "k2"]
    assert [file.name for file in files] == ["a.json", "b.json"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the folder holds no file that ends in"):
        read(tmp_path)
    with pytest.raises(DataError, match="no SearchQA items"):
        read(write_json(tmp_path / "x.json", [{**ROWS[0], "subset": "SQuAD"}]))
    with pytest.raises(DataError, match=r"x\.json:1: the field 'key' is missing; found: question"):
        read(write_json(tmp_path / "x.json", [{"question": "q"}]))
    with pytest.raises(DataError, match=r"the field 'qas' must be a list"):
        read(write_json(tmp_path / "x.json", [{"context": "c", "qas": {}}]))
