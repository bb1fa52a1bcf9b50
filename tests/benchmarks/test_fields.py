from __future__ import annotations

from typing import Any

import pytest

from reflact.benchmarks.fields import Fields
from reflact.core.errors import DataError


def fields(**record: Any) -> Fields:
    return Fields(record, "x.json", 7, 3)


def test_a_missing_field_names_place_found_fields_and_the_nearest() -> None:
    with pytest.raises(DataError) as caught:
        fields(id="q1", question="?", answer="x").texts("answers")
    assert str(caught.value) == (
        "x.json:7 (id 'q1'): the field 'answers' is missing; found: id, question, answer; "
        "did you mean to call 'answer' 'answers'?"
    )


def test_rows_of_tables_have_numbers_instead_of_lines() -> None:
    assert str(Fields({"key": "k"}, "x.parquet", 0, 3)) == "x.parquet, row 3 (id 'k')"


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        ("text", 3, "must be a text, not int 3"),
        ("text", None, "must be a text, not null"),
        ("text", " \n", "is blank"),
        ("label", True, "must be a text, not bool True"),
        ("label", 1.5, "must be a text, not float 1.5"),
        ("optional_text", ["a"], "must be a text, not a list"),
        ("texts", "abc", "must be a list of texts, not a text"),
        ("texts", ["a", 1], "must be a list of texts"),
        ("texts", [], "holds no text"),
        ("texts", [" "], "holds no text"),
        ("child", "abc", "must be an object, not a text"),
    ],
)
def test_odd_values_are_refused(call: str, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        getattr(fields(id="q1", thing=value), call)("thing")


def test_good_values_are_returned() -> None:
    record = fields(id=5, name="a", many=["x", " ", "y"], inner={"k": "v"}, none=None)
    assert record.label("id") == "5"
    assert record.text("name") == "a"
    assert record.texts("many") == ("x", "y")
    assert record.child("inner").text("k") == "v"
    assert record.optional_text("none") == record.optional_text("nowhere") == ""


def test_a_child_keeps_the_place() -> None:
    with pytest.raises(DataError, match=r"x\.json:7.*'k' is missing; found: no fields"):
        fields(inner={}).child("inner").text("k")
