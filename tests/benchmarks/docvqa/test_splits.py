from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reflact.benchmarks.commands import make_split, verify_split
from reflact.benchmarks.folders import MANIFEST, read_folder
from reflact.benchmarks.making import draw
from reflact.benchmarks.splits import assign
from reflact.cli import data, splits
from reflact.core.errors import DataError
from reflact.core.names import Part

from ..support import write_json
from .support import make_docvqa, row, write_csv, write_images

QA = make_docvqa()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("docvqa") / "validation.csv", [row(n) for n in range(203)])


def ids(folder: Path) -> dict[str, list[str]]:
    parts = read_folder(QA.form, folder)
    return {part.value: [record.item.id for record in records] for part, records in parts.items()}


def test_the_known_counts(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "validation.csv", [row(n) for n in range(5349)])
    for split, counts in {
        "1shot": (1, 1, 5347),
        "1-1-8": (535, 535, 4279),
        "2-1-7": (1070, 535, 3744),
        "4-1-5": (2140, 535, 2674),
        "10pct": (107, 53, 374),
    }.items():
        drawn = draw(QA, source, split)
        assert tuple(len(drawn.records[part]) for part in Part) == counts
        wanted = assign([str(n) for n in range(5349)], split)
        assert all(tuple(record.item.id for record in drawn.records[part]) == wanted[part] for part in Part)


@pytest.mark.parametrize("split", ["1shot", "1-1-8", "2-1-7", "4-1-5", "10pct"])
def test_every_split_is_made_and_verified(tmp_path: Path, source: Path, split: str) -> None:
    report = make_split(QA, source, tmp_path / "out", split=split)
    assert not make_split(QA, source, tmp_path / "out", split=split).written
    verified = verify_split(QA, tmp_path / "out", source=source)
    assert (verified.problems, verified.fingerprint) == ((), report.fingerprint)
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text(encoding="utf-8"))
    assert (manifest["benchmark"], manifest["ratio"], manifest["pool"]) == ("docvqa", split, 203)
    assert manifest["counts"] == {part: len(names) for part, names in ids(tmp_path / "out").items()}


def test_the_tenth_is_the_beginning_of_each_part(tmp_path: Path, source: Path) -> None:
    make_split(QA, source, tmp_path / "whole")
    make_split(QA, source, tmp_path / "tenth", split="10pct")
    whole, tenth = ids(tmp_path / "whole"), ids(tmp_path / "tenth")
    assert all(tenth[part] == whole[part][: len(whole[part]) // 10] for part in whole)


def test_what_is_written_is_a_table_with_every_cell_as_it_was(tmp_path: Path) -> None:
    rows = [row(n, ucsf_document_id=f"u{n}", note="a\r\nb\rc") for n in range(10)]
    rows[5] |= {"answer": "1,234", "question": 'She said: "two,\nlines"'}
    make_split(QA, write_csv(tmp_path / "pool.csv", rows), tmp_path / "out")
    written = {
        record.item.id: record for records in read_folder(QA.form, tmp_path / "out").values() for record in records
    }
    assert [dict(written[entry["questionId"]].data) for entry in rows] == rows
    assert written["5"].item.gold == ("1,234",)
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.*")) == ["items.csv"] * 3 + [MANIFEST]
    header = (tmp_path / "out" / "val" / "items.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert header == "questionId,question,answer,docId,image_path,topic,ucsf_document_id,note"


def test_ids_are_joined_with_the_source(tmp_path: Path, source: Path) -> None:
    chosen: dict[str, list[Any]] = {"train": [7, "3"], "val": ["0"], "test": [{"id": "9"}]}
    manifest = write_json(tmp_path / "ids.json", chosen)
    make_split(QA, source, tmp_path / "out", ids=manifest)
    assert ids(tmp_path / "out") == {"train": ["7", "3"], "val": ["0"], "test": ["9"]}
    assert verify_split(QA, tmp_path / "out", source=source, ids=manifest).problems == ()
    with pytest.raises(DataError, match="1 of 1 ids of val are not in the source"):
        make_split(QA, source, tmp_path / "x", ids=write_json(tmp_path / "ids.json", {**chosen, "val": ["no"]}))


def test_a_source_without_an_answer_makes_no_split(tmp_path: Path) -> None:
    rows = [row(n) for n in range(10)]
    rows[3]["answer"] = ""
    with pytest.raises(DataError, match=r"1 items have no accepted answer, the first is .*pool\.csv:5 \(id '3'\)"):
        make_split(QA, write_csv(tmp_path / "pool.csv", rows), tmp_path / "out")


def test_tables_may_lie_in_the_split_folder_itself(tmp_path: Path) -> None:
    rows = [row(n) for n in range(3)]
    write_images(tmp_path, rows)
    for entry, part in zip(rows, Part, strict=True):
        write_csv(tmp_path / f"{part.value}.csv", [entry])
    benchmark = make_docvqa(split_dir=str(tmp_path))
    split = benchmark.load()
    assert [split.parts[part][0].id for part in Part] == ["0", "1", "2"]
    assert list(benchmark.check(split)) == []


def test_doubled_overlapping_and_missing_tables_are_refused(tmp_path: Path) -> None:
    for part in ("train", "val", "test"):
        write_csv(tmp_path / part / "a.csv", [row(part)])
    load = make_docvqa(split_dir=str(tmp_path)).load
    write_csv(tmp_path / "val" / "a.csv", [row("train")])
    with pytest.raises(DataError, match=r"'train' in train .* and val"):
        load()
    write_csv(tmp_path / "val" / "a.csv", [row("v"), row("v")])
    with pytest.raises(DataError, match=r"a\.csv:3 \(id 'v'\): the id stands twice"):
        load()
    write_csv(tmp_path / "val" / "b.csv", [row("w")])
    with pytest.raises(DataError, match=r"must hold exactly one CSV file .* found: a\.csv, b\.csv"):
        load()
    with pytest.raises(DataError, match="reflact splits make docvqa"):
        make_docvqa(split_dir=str(tmp_path / "none")).load()


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [row(n) for n in range(20)]
    write_csv(Path("data/docvqa/raw/validation.csv"), rows)
    write_images(Path("data/docvqa/raw"), rows[1:])
    command = CliRunner()
    made = command.invoke(splits.app, ["make", "docvqa", "--source", "data/docvqa/raw"])
    assert "train 4, val 2, test 14" in made.output
    verified = command.invoke(splits.app, ["verify", "data/docvqa/splits/2-1-7", "--source", "data/docvqa/raw"])
    assert (verified.exit_code, "as it should be" in verified.output) == (0, True)
    checked = command.invoke(data.app, ["check", "docvqa"])
    assert checked.exit_code == 2
    assert "train 4, val 2, test 14" in checked.output
    assert "image_missing: 1 of 20 images are missing: docvqa_images/q0_d00.png (question 0)" in checked.output
    write_images(Path("elsewhere"), rows)
    checked = command.invoke(data.app, ["check", "docvqa", "--image-root", "elsewhere"])
    assert (checked.exit_code, "nothing found" in checked.output) == (0, True)
