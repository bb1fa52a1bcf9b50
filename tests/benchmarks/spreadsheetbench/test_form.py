from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflact.benchmarks.commands import make_split, verify_split
from reflact.core.errors import DataError
from reflact.core.names import Part

from ..support import make, write_json, write_split
from .support import book, data_folder, over, record


def test_a_data_folder_is_cut_like_its_split_folder(tmp_path: Path) -> None:
    root = data_folder(tmp_path / "data")
    benchmark = over(root)
    report = make_split(make("spreadsheetbench"), root, tmp_path / "2-1-7")
    assert report.counts == {"train": 2, "val": 1, "test": 7}
    assert verify_split(make("spreadsheetbench"), tmp_path / "2-1-7", source=root).problems == ()
    split = benchmark.load()
    assert split.fingerprint == report.fingerprint
    assert over(root, split_dir=str(tmp_path / "2-1-7")).load().fingerprint == report.fingerprint


def test_the_sizes_of_the_verified_set(tmp_path: Path) -> None:
    from reflact.benchmarks.splits import part_sizes

    assert part_sizes(400, "2-1-7") == {Part.TRAIN: 80, Part.VAL: 40, Part.TEST: 280}


def test_items_without_hashes_take_those_of_the_folder(tmp_path: Path) -> None:
    records = [record(number) for number in range(1, 4)]
    root = data_folder(tmp_path / "data", records)
    parts = dict(zip(("train", "val", "test"), ([entry] for entry in records), strict=True))
    split = over(root, split_dir=str(write_split(tmp_path / "split", parts))).load()
    (item,) = split.parts[Part.TRAIN]
    assert (item.id, item.task_type, item.gold) == ("1", "Cell-Level Manipulation", ())
    (case,) = item.data["cases"]
    assert (case["input"], case["golden"]) == ("1_1_init.xlsx", "1_1_golden.xlsx")


def test_a_corrected_workbook_is_another_split(tmp_path: Path) -> None:
    root = data_folder(tmp_path / "data")
    before = over(root).load().fingerprint
    report = make_split(make("spreadsheetbench"), root, tmp_path / "2-1-7")
    book(root / "spreadsheet" / "i3" / "1_i3_golden.xlsx", {"B1": 99})
    assert over(root).load().fingerprint != before == report.fingerprint
    with pytest.raises(DataError, match=r"(?s)1 of 10 items.*'i3'.*not the file that the split was made with"):
        over(root, split_dir=str(tmp_path / "2-1-7")).load()


def test_a_wrong_data_folder_is_refused_with_names(tmp_path: Path) -> None:
    root = data_folder(tmp_path / "data")
    make_split(make("spreadsheetbench"), root, tmp_path / "2-1-7")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(DataError, match=r"10 of 10 items are not in .*elsewhere.*env\.data_root must name the folder"):
        over(elsewhere, split_dir=str(tmp_path / "2-1-7")).load()
    with pytest.raises(DataError, match=r"there is no dataset\.json"):
        over(elsewhere).load()
    with pytest.raises(DataError, match=r"env\.data_root must name"):
        make("spreadsheetbench").load()
    (root / "spreadsheet" / "i4" / "1_i4_golden.xlsx").unlink()
    with pytest.raises(DataError, match=r"(?s)1 of 10 items are not .*: 'i4'\..*0 reference workbooks"):
        over(root).load()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_position": "somewhere"}, "'answer_position' is not understood: 'somewhere' is not a cell or a range"),
        ({"answer_position": " "}, "'answer_position' is blank"),
        ({"instruction": ""}, "'instruction' is blank"),
        ({"spreadsheet_path": "../x"}, "must stay inside the data folder"),
        ({"spreadsheet_path": "/etc"}, "must stay inside the data folder"),
        ({"cases": 3}, "'cases' must be a list"),
        ({"cases": [{"input": "a"}]}, "'golden' is missing"),
        (
            {"cases": [{"input": "../a", "golden": "b", "input_sha256": "c", "golden_sha256": "d"}]},
            "names without folders",
        ),
    ],
)
def test_a_bad_record_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    data_folder(tmp_path, [record("ok")])
    write_json(tmp_path / "dataset.json", [record("ok"), record("bad", **change)])
    with pytest.raises(DataError, match=message) as raised:
        over(tmp_path).load()
    assert "dataset.json:" in str(raised.value)


def test_an_id_is_never_a_way_out(tmp_path: Path) -> None:
    data_folder(tmp_path, [record("ok")])
    entry = record("../../etc")
    del entry["spreadsheet_path"]
    (tmp_path / "dataset.json").write_text(json.dumps([entry]), encoding="utf-8")
    with pytest.raises(DataError, match="must stay inside the data folder"):
        over(tmp_path).load()
