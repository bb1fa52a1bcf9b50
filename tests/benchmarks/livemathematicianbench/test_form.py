from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.livemathematicianbench.form import LiveMathFormat
from reflact.core.errors import DataError

from ..support import theorem, write_json

FORM = LiveMathFormat()


def one(tmp_path: Path, **changes: Any) -> Any:
    write_json(tmp_path / "qa_202501_final.json", [theorem(1, **changes)])
    return FORM.read_source(tmp_path)[0][0].item


def mcq(**changes: Any) -> dict[str, Any]:
    return {**theorem(1)["mcq"], **changes}


def test_the_right_option_is_put_in_and_kept_as_gold(tmp_path: Path) -> None:
    item = one(tmp_path)
    assert item.id == "202501:1"
    assert item.gold == ("right 1",)
    assert item.data["options"] == ["right 1", "wrong B 1", "wrong C 1", "wrong D 1", "wrong E 1"]
    assert (item.data["theorem"], item.data["sketch"]) == ("Theorem 1.", "Sketch 1.")


@pytest.mark.parametrize(
    ("value", "task_type"),
    [(["Universal", "Implication"], "Universal|Implication"), ("unknown", "unknown"), (None, ""), (["X"], "X")],
)
def test_theorem_types_are_a_list_or_a_text(tmp_path: Path, value: Any, task_type: str) -> None:
    assert one(tmp_path, theorem_type=value).task_type == task_type


def test_items_come_by_month_and_number(tmp_path: Path) -> None:
    nameless = theorem(3)
    del nameless["month"]
    write_json(tmp_path / "qa_202512_final.json", [theorem(10, month="202512"), theorem(2, month="202512")])
    write_json(tmp_path / "qa_202501_final.json", [theorem(1), nameless])
    write_json(tmp_path / "notes.json", ["other"])
    records, files = FORM.read_source(tmp_path)
    assert [record.item.id for record in records] == ["202501:1", "202501:3", "202512:2", "202512:10"]
    assert [file.name for file in files] == ["qa_202501_final.json", "qa_202512_final.json"]


def test_a_right_option_that_is_also_listed_is_not_doubled(tmp_path: Path) -> None:
    listed = [{"label": "A", "text": "right 1"}, *mcq()["choices"]]
    assert len(one(tmp_path, mcq=mcq(choices=listed)).data["options"]) == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mcq": mcq(choices=[])}, "there is no wrong option"),
        ({"mcq": mcq(choices="BCDE")}, "'choices' must be a list"),
        ({"mcq": mcq(choices=[{"label": "A", "text": "x"}])}, "two options have the label 'A'"),
        ({"mcq": mcq(choices=[{"label": "B", "text": "right  1"}])}, "two options have the same text"),
        ({"mcq": mcq(choices=["x"])}, "an entry of 'choices' must be an object"),
        ({"mcq": mcq(choices=[{"label": str(n), "text": f"x{n}"} for n in range(26)])}, "27 options are more"),
        ({"mcq": mcq(correct_choice="A")}, "'correct_choice' must be an object"),
        ({"mcq": {"question": "?"}}, "'correct_choice' is missing; found: question"),
        ({"mcq": None}, "'mcq' must be an object, not null"),
        ({"no": "1"}, "'no' must be a whole number, not '1'"),
        ({"theorem": 5}, "'theorem' must be a text"),
    ],
)
def test_malformed_items_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        one(tmp_path, **changes)
    assert "qa_202501_final.json:1" in str(caught.value)


def test_a_wrong_folder_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file is called qa_<month>_final\.json"):
        FORM.read_source(tmp_path)
    with pytest.raises(DataError, match=r"none: there is no such folder; env\.data_root must hold"):
        FORM.read_source(tmp_path / "none")
    write_json(tmp_path / "qa_202501_final.json", [])
    with pytest.raises(DataError, match="the files hold no items"):
        FORM.read_source(tmp_path)
