"""The published items, where they are at hand; they carry no licence and are not part of the project."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reflact.benchmarks.commands import check_data, make_split
from reflact.benchmarks.livemathematicianbench.options import shuffled
from reflact.core.names import Part

from ..support import REAL_LIVEMATH, make

NAME = "livemathematicianbench"
ROOT = str(REAL_LIVEMATH)
pytestmark = pytest.mark.skipif(not REAL_LIVEMATH.is_dir(), reason=f"the published items are not at {REAL_LIVEMATH}")


@pytest.mark.parametrize(
    ("split", "counts"),
    [("2-1-7", (35, 18, 124)), ("1shot", (1, 1, 175)), ("1-1-8", (18, 18, 141)), ("4-1-5", (71, 18, 88))],
)
def test_the_published_counts(split: str, counts: tuple[int, int, int]) -> None:
    loaded = make(NAME, data_root=ROOT, split=split).load()
    assert tuple(len(loaded.parts[part]) for part in Part) == counts


def test_seed_42_spreads_the_right_label() -> None:
    split = make(NAME, data_root=ROOT).load()
    labels = Counter(shuffled(item, 42).right for part in Part for item in split.parts[part])
    assert labels == {"A": 33, "B": 30, "C": 45, "D": 38, "E": 31}


def test_the_constant_option_is_found_and_left_out() -> None:
    report = check_data(make(NAME, data_root=ROOT))
    assert [finding.code for finding in report.findings] == ["constant_option"]
    assert "85 of the 85 items" in report.findings[0].message
    split = make(NAME, data_root=ROOT, drop_constant_option=True).load()
    assert split.manifest["left_out"]["items"] == {"train": 21, "val": 11, "test": 53}


def test_a_written_split_holds_the_same_items(tmp_path: Path) -> None:
    drawn = make(NAME, data_root=ROOT).load()
    report = make_split(make(NAME), REAL_LIVEMATH, tmp_path / "out")
    assert report.fingerprint == drawn.fingerprint
    assert make(NAME, split_dir=str(tmp_path / "out")).load().parts == drawn.parts
    assert make_split(make(NAME, drop_constant_option=True), REAL_LIVEMATH, tmp_path / "few").counts == {
        "train": 18,
        "val": 9,
        "test": 65,
    }


def test_every_item_is_complete() -> None:
    split = make(NAME, data_root=ROOT).load()
    for item in (item for part in Part for item in split.parts[part]):
        assert len(item.data["options"]) == 5
        assert item.task_type == "unknown" or all(len(name) > 3 for name in item.task_type.split("|"))
