from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from reflact.benchmarks.docvqa.form import DocVQAFormat
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError

from .support import row, write_csv

FORM = DocVQAFormat()


def read(path: Path) -> list[Record]:
    return FORM.read_source(path)[0]


def test_a_row_becomes_an_item_and_keeps_its_cells(tmp_path: Path) -> None:
    extra = row(7, answer="['1,234', '1234']", ucsf_document_id="xyz1", ucsf_document_page_no="3")
    (record,) = read(write_csv(tmp_path / "a.csv", [extra]))
    item = record.item
    assert (item.id, item.question, item.gold, item.task_type) == (
        "7",
        "What is number 7?",
        ("1,234", "1234"),
        "form|layout",
    )
    assert dict(item.data) == {"doc_id": "70", "image": "docvqa_images/q7_d70.png"}
    assert dict(record.data) == extra


def test_types_may_be_one_text_a_list_or_nothing(tmp_path: Path) -> None:
    topics = ["table/list", "['handwritten', 'form']", "['handwritten' 'form']", "handwritten|form", ""]
    records = read(write_csv(tmp_path / "a.csv", [row(n, topic=topic) for n, topic in enumerate(topics)]))
    assert [record.item.task_type for record in records] == ["table/list", *["handwritten|form"] * 3, ""]


def test_an_answer_that_is_no_list_stays_a_text(tmp_path: Path) -> None:
    records = read(write_csv(tmp_path / "a.csv", [row(1, answer="1,234"), row(2, answer="(3, 4)"), row(3, answer=" ")]))
    assert [record.item.gold for record in records] == [("1,234",), ("(3, 4)",), ()]


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    write_csv(tmp_path / "b.csv", [row(2)])
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(write_csv(tmp_path / "x", [row(1)]).read_bytes()))
    records, files = FORM.read_source(tmp_path)
    assert [record.item.id for record in records] == ["1", "2"]
    assert [file.name for file in files] == ["a.csv.gz", "b.csv"]


def test_errors_name_file_line_and_question(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [row(1, question="two\nlines"), row(2, answer="[2]")])
    with pytest.raises(DataError, match=r"a\.csv:4 \(id '2'\): the field 'answer' begins with `\[` .*'2' is no text"):
        read(path)
    with pytest.raises(DataError, match=r"a\.csv:2 \(id '1'\): the field 'image_path' is blank"):
        read(write_csv(tmp_path / "a.csv", [row(1, image_path="")]))
    without = {key: value for key, value in row(1).items() if key != "answer"}
    with pytest.raises(DataError, match=r"the field 'answer' is missing; found: questionId, question, docId"):
        read(write_csv(tmp_path / "a.csv", [{**without}]))


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the folder holds no file that ends in"):
        read(tmp_path)
    with pytest.raises(DataError, match="a CSV file or a folder of them was expected"):
        read(tmp_path / "a.json")
    with pytest.raises(DataError, match="no DocVQA items"):
        read(write_csv(tmp_path / "a.csv", []))
