from __future__ import annotations

from pathlib import Path

import pytest

from reflact.benchmarks.commands import check_data, make_split, verify_split
from reflact.core.errors import DataError
from reflact.core.names import Part

from ..support import make, theorem, write_json, write_split

SENTENCE = "Something stronger can be proved."
NAME = "livemathematicianbench"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Twenty items of which twelve have the same right option."""
    folder = tmp_path / "raw"
    write_json(folder / "qa_202501_final.json", [theorem(n, right=SENTENCE if n <= 12 else "") for n in range(1, 21)])
    return folder


def test_a_constant_right_option_is_named_with_its_share(root: Path) -> None:
    report = check_data(make(NAME, data_root=str(root)))
    (finding,) = report.findings
    assert (finding.level, finding.code) == ("warning", "constant_option")
    assert SENTENCE in finding.message
    assert "right in 12 of the 12 items that have it, 60% of all 20 items" in finding.message
    assert report.usable


def test_the_filter_leaves_those_items_out_and_says_so(root: Path) -> None:
    whole = make(NAME, data_root=str(root)).load()
    benchmark = make(NAME, data_root=str(root), drop_constant_option=True)
    split = benchmark.load()
    for part in Part:
        assert [item for item in whole.parts[part] if item.gold[0] != SENTENCE] == list(split.parts[part])
    assert sum(map(len, split.parts.values())) == 8
    assert split.fingerprint != whole.fingerprint
    assert sum(split.manifest["left_out"]["items"].values()) == 12
    assert SENTENCE in split.manifest["left_out"]["options"][0]
    assert list(benchmark.check(split)) == []


def test_a_split_can_be_drawn_without_those_items(root: Path, tmp_path: Path) -> None:
    benchmark = make(NAME, drop_constant_option=True)
    report = make_split(benchmark, root, tmp_path / "out", split="1-1-2")
    assert report.counts == {"train": 2, "val": 2, "test": 4}
    split = make(NAME, split_dir=str(tmp_path / "out")).load()
    assert split.manifest["left_out"]["items"] == {"all": 12}
    assert verify_split(benchmark, tmp_path / "out", source=root).problems == ()


def test_a_part_that_would_be_empty_is_refused(tmp_path: Path) -> None:
    records = [theorem(n, right=SENTENCE if n < 5 else "") for n in range(1, 9)]
    write_split(tmp_path, {"train": records[:1], "val": records[1:2], "test": records[2:]})
    with pytest.raises(DataError, match=r"leaves nothing of train, val in .*--drop-constant-option"):
        make(NAME, split_dir=str(tmp_path), drop_constant_option=True).load()


def test_options_that_are_rare_or_often_wrong_are_no_shortcut(tmp_path: Path) -> None:
    records = [theorem(n, right="twice" if n <= 2 else "") for n in range(1, 21)]
    for record in records[4:14]:
        record["mcq"]["choices"][0]["text"] = "often wrong"
    for record in records[14:18]:
        record["mcq"]["correct_choice"]["text"] = "often wrong"
    write_json(tmp_path / "qa_202501_final.json", records)
    assert check_data(make(NAME, data_root=str(tmp_path))).findings == ()
