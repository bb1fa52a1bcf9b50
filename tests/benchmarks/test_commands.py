from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.commands import check_data, make_split, verify_split
from reflact.benchmarks.folders import MANIFEST
from reflact.core.errors import ConfigError, DataError, Refused
from reflact.core.names import Part

from .support import make, question, write_json, write_split

QA = make("searchqa")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_json(tmp_path / "pool.json", [question(f"i{n}") for n in range(50)])


def manifest(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return read


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_split_is_written_with_its_manifest(tmp_path: Path, source: Path) -> None:
    out = tmp_path / "deep" / "2-1-7"
    report = make_split(QA, source, out)
    split = make("searchqa", split_dir=str(out)).load()
    assert report.written
    assert report.counts == {"train": 10, "val": 5, "test": 35}
    assert report.fingerprint == split.fingerprint
    assert manifest(out) == {
        "format": "reflact-split/1",
        "benchmark": "searchqa",
        "source": "generated",
        "ratio": "2-1-7",
        "seed": 42,
        "pool": 50,
        "limit": 0,
        "ids": None,
        "counts": {"train": 10, "val": 5, "test": 35},
        "fingerprint": split.fingerprint,
        "fingerprints": {part.value: split.fingerprints[part] for part in Part},
        "files": {"pool.json": hashlib.sha256(source.read_bytes()).hexdigest()},
    }
    assert [path.name for path in out.parent.iterdir()] == ["2-1-7"]


def test_making_it_again_changes_nothing(tmp_path: Path, source: Path) -> None:
    make_split(QA, source, tmp_path / "out")
    before = tree(tmp_path)
    assert not make_split(QA, source, tmp_path / "out").written
    assert tree(tmp_path) == before


def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path: Path, source: Path) -> None:
    make_split(QA, source, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine", encoding="utf-8")
    before = tree(tmp_path)
    for folder, seed in (("out", 43), ("full", 42), ("pool.json", 42)):
        with pytest.raises(Refused, match=f"{folder} exists and does not hold this split; nothing was changed"):
            make_split(QA, source, tmp_path / folder, seed=seed)
    assert tree(tmp_path) == before


def test_an_empty_folder_is_used(tmp_path: Path, source: Path) -> None:
    (tmp_path / "out").mkdir()
    assert make_split(QA, source, tmp_path / "out").written


def test_ids_by_part_are_joined_with_the_source(tmp_path: Path, source: Path) -> None:
    ids = write_split(tmp_path / "ids", {"train": ["i7", "i3"], "val": ["i0"], "test": [{"id": "i9"}]})
    make_split(QA, source, tmp_path / "out", ids=ids)
    split = make("searchqa", split_dir=str(tmp_path / "out")).load()
    assert [item.id for item in split.parts[Part.TRAIN]] == ["i7", "i3"]
    written = manifest(tmp_path / "out")
    assert (written["source"], written["ratio"], written["seed"], written["ids"]) == ("id manifest", None, None, "ids")


def test_a_pool_of_ids_and_a_limit_bound_what_is_drawn_from(tmp_path: Path, source: Path) -> None:
    ids = write_json(tmp_path / "items.json", [f"i{n}" for n in range(40, 10, -1)])
    report = make_split(QA, source, tmp_path / "out", ids=ids, limit=20)
    assert report.counts == {"train": 4, "val": 2, "test": 14}
    drawn = {
        item.id for items in make("searchqa", split_dir=str(tmp_path / "out")).load().parts.values() for item in items
    }
    assert drawn == {f"i{n}" for n in range(40, 20, -1)}
    with pytest.raises(DataError, match="the pool has 30 items, fewer than the limit of 31"):
        make_split(QA, source, tmp_path / "more", ids=ids, limit=31)
    assert verify_split(QA, tmp_path / "out", source=source, ids=ids).problems == ()
    (problem,) = verify_split(QA, tmp_path / "out", source=source).problems
    assert "id manifest 'items.json', which is needed" in problem


def test_duplicate_ids_in_a_source_are_refused(tmp_path: Path) -> None:
    source = write_json(tmp_path / "pool.json", [question("a"), question("b"), question("a")])
    with pytest.raises(DataError, match=r"pool\.json:1 \(id 'a'\): the id stands twice"):
        make_split(QA, source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_split_is_refused(tmp_path: Path, source: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 2-1-7"):
        make_split(QA, source, tmp_path / "out", split="2-1-8x")


@pytest.mark.parametrize("split", ["2-1-7", "1shot", "1-1-8", "4-1-5"])
def test_what_was_made_verifies_also_against_its_source(tmp_path: Path, source: Path, split: str) -> None:
    made = make_split(QA, source, tmp_path / "out", split=split, seed=7)
    report = verify_split(QA, tmp_path / "out", source=source)
    assert report.problems == ()
    assert (report.counts, report.fingerprint) == (made.counts, made.fingerprint)


def test_a_tenth_verifies(tmp_path: Path) -> None:
    source = write_json(tmp_path / "pool.json", [question(f"i{n}") for n in range(203)])
    assert make_split(QA, source, tmp_path / "out", split="10pct").counts == {"train": 4, "val": 2, "test": 14}
    assert verify_split(QA, tmp_path / "out", source=source).problems == ()


def test_what_was_changed_is_named(tmp_path: Path, source: Path) -> None:
    out = tmp_path / "out"
    make_split(QA, source, out)
    items = json.loads((out / "val" / "items.json").read_text(encoding="utf-8"))
    write_json(out / "val" / "items.json", items[1:])
    problems = "\n".join(verify_split(QA, out, source=source).problems)
    assert "counts {'train': 10, 'val': 5, 'test': 35}, the folder has {'train': 10, 'val': 4, 'test': 35}" in problems
    assert "the items of val are not those that were written" in problems
    assert "the fingerprint in split_manifest.json is not that of the folder's items" in problems
    assert "split 2-1-7 of 50 items is" in problems
    assert "gives other items for val" in problems
    assert "train are not" not in problems


def test_folders_without_or_with_a_foreign_manifest_have_problems(tmp_path: Path) -> None:
    write_split(tmp_path, {part: [question(part)] for part in ("train", "val", "test")})
    assert "there is no split_manifest.json" in verify_split(QA, tmp_path).problems[0]
    write_json(tmp_path / MANIFEST, {"benchmark": "docvqa", "counts": {"train": 3}})
    problems = "\n".join(verify_split(QA, tmp_path).problems)
    assert "is of benchmark 'docvqa', not 'searchqa'" in problems
    assert "counts {'train': 3}" in problems
    assert "contents cannot be compared" in problems


def test_an_unreadable_folder_is_one_problem(tmp_path: Path) -> None:
    report = verify_split(QA, tmp_path / "none")
    assert report.counts == {}
    assert "there is no split folder" in report.problems[0]


def test_a_benchmark_without_split_folders_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="benchmark 'orders' does not read split folders"):
        make_split(make("orders"), tmp_path, tmp_path / "out")


def test_a_data_check_reports_counts_and_findings() -> None:
    report = check_data(make("searchqa", sample=True))
    assert report.usable
    assert report.findings == ()
    assert report.counts == {"train": 12, "val": 10, "test": 16}
