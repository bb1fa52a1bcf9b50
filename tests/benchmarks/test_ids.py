from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.ids import IdManifest, join, read_ids
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError
from reflact.core.names import Part
from reflact.core.types import Item

from .support import write_json, write_split

PARTS = IdManifest(parts={Part.TRAIN: ("a",), Part.VAL: ("b",), Part.TEST: ("3", "d")})


def test_the_three_forms_of_an_id_manifest(tmp_path: Path) -> None:
    whole: dict[str, list[Any]] = {"train": ["a"], "val": [{"id": "b", "more": 1}], "test": [3, "d"]}
    assert read_ids(write_split(tmp_path / "folder", whole)) == PARTS
    assert read_ids(write_json(tmp_path / "items.json", whole)) == PARTS
    assert read_ids(write_json(tmp_path / "pool.json", ["a", {"id": 7}])) == IdManifest(pool=("a", "7"))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"train": ["a"], "test": ["b"]}, "missing: val"),
        ({"train": ["a"], "val": [], "test": ["b"]}, "items.json, val: a list with at least one id"),
        ({"train": ["a"], "val": ["b"], "test": ["a"]}, "the id 'a' stands in train and in test"),
        (["a", "b", "a"], "the id 'a' stands twice"),
        (["a", {"key": 1}], "entry 2 must be an id or an object with an id, not null"),
        ([True], "entry 1 must be an id"),
        ("a", "a list with at least one id was expected, not a text"),
    ],
)
def test_a_bad_manifest_is_refused(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_ids(write_json(tmp_path / "items.json", value))


def test_a_folder_with_a_missing_part_is_refused_by_name(tmp_path: Path) -> None:
    write_split(tmp_path, {"train": ["a"], "test": ["b"]})
    with pytest.raises(DataError, match=r"val.items\.json: there is no such file"):
        read_ids(tmp_path)


def test_joining_keeps_the_order_of_the_ids_and_names_missing_ones() -> None:
    records = [Record(Item(name, "q"), {}, "x") for name in "abc"]
    assert [record.item.id for record in join(records, ["c", "a"], "train")] == ["c", "a"]
    with pytest.raises(DataError, match=r"2 of 3 ids of train are not in the source, which has 3 items: 'x', 'y'"):
        join(records, ["x", "a", "y"], "train")
