from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from reflact.cli import data, splits
from reflact.core.errors import ConfigError, DataError, Refused

from .support import question, write_json, write_split


def call(module: object, *arguments: str) -> Result:
    return CliRunner().invoke(module.app, [*arguments])  # type: ignore[attr-defined]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_json(tmp_path / "pool.json", [question(f"i{n}") for n in range(20)])


def test_make_writes_the_usual_folder_and_a_run_finds_it(source: Path) -> None:
    made = call(splits, "make", "searchqa", "--source", "pool.json", "--split", "1-1-8")
    assert made.exit_code == 0, made.output
    assert "data/searchqa/splits/1-1-8: written" in made.output
    assert "train 2, val 2, test 16" in made.output
    checked = call(data, "check", "searchqa", "--split", "1-1-8")
    assert checked.exit_code == 0
    assert "searchqa, split 1-1-8 from data/searchqa/splits/1-1-8" in checked.output
    assert "nothing found that would make scores misleading" in checked.output
    again = call(splits, "make", "searchqa", "--source", "pool.json", "--split", "1-1-8")
    assert "already there, with the same items" in again.output


def test_verify_takes_the_benchmark_from_the_manifest(source: Path) -> None:
    call(splits, "make", "searchqa", "--source", "pool.json", "--out", "s")
    good = call(splits, "verify", "s", "--source", "pool.json")
    assert (good.exit_code, "s: as it should be" in good.output) == (0, True)
    items = json.loads(Path("s/val/items.json").read_text(encoding="utf-8"))
    write_json(Path("s/val/items.json"), items[:1])
    bad = call(splits, "verify", "s")
    assert bad.exit_code == 2
    assert "s: not as it should be" in bad.output
    assert "problem the items of val are not those that were written" in bad.output


def test_errors_reach_the_program_that_turns_them_into_exit_codes(source: Path) -> None:
    write_split(Path("bare"), {part: [question(part)] for part in ("train", "val", "test")})
    for module, arguments, error in (
        (splits, ("make", "serchqa", "--source", "pool.json"), ConfigError),
        (splits, ("make", "searchqa", "--source", "none.json"), DataError),
        (splits, ("make", "searchqa", "--source", "pool.json", "--out", "bare"), Refused),
        (splits, ("verify", "bare"), ConfigError),
        (data, ("check", "searchqa"), DataError),
    ):
        result = call(module, *arguments)
        assert isinstance(result.exception, error), arguments
    assert "add --benchmark <name>" in str(call(splits, "verify", "bare").exception)


def test_verify_of_a_folder_without_manifest_says_so(source: Path) -> None:
    write_split(Path("bare"), {part: [question(part)] for part in ("train", "val", "test")})
    result = call(splits, "verify", "bare", "--benchmark", "searchqa")
    assert result.exit_code == 2
    assert "there is no split_manifest.json" in result.output


def test_the_sample_can_be_checked_from_anywhere(source: Path) -> None:
    result = call(data, "check", "livemathematicianbench", "--sample")
    assert result.exit_code == 0
    assert "train 12, val 10, test 16" in result.output


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"fingerprints": []}, "the items of train are not those that were written"),
        ({"fingerprints": "x", "counts": 3}, "split_manifest.json counts 3"),
        ({"limit": "x"}, "has the limit 'x', which is no number of items"),
        ({"limit": None}, "has the limit None"),
        ({"limit": -5}, "has the limit -5"),
        ({"limit": True}, "has the limit True"),
        ({"ratio": 5, "seed": "y"}, "the split cannot be drawn again: unknown split"),
    ],
)
def test_a_manifest_of_nonsense_is_a_problem_and_no_bug(source: Path, changes: dict[str, object], problem: str) -> None:
    call(splits, "make", "searchqa", "--source", "pool.json", "--out", "s")
    manifest = Path("s/split_manifest.json")
    write_json(manifest, {**json.loads(manifest.read_text(encoding="utf-8")), **changes})
    result = call(splits, "verify", "s", "--source", "pool.json")
    assert result.exit_code == 2, result.output
    assert f"problem {problem}" in result.output or f"problem split_manifest.json {problem}" in result.output


@pytest.mark.parametrize("out", ["pool.json/s", "pool.json/deep/s"])
def test_a_split_cannot_be_written_below_a_file(source: Path, out: str) -> None:
    before = source.read_bytes()
    result = call(splits, "make", "searchqa", "--source", "pool.json", "--out", out)
    assert isinstance(result.exception, Refused)
    assert f"{out} cannot be made (pool.json" in str(result.exception)
    assert (source.read_bytes(), [path.name for path in source.parent.iterdir()]) == (before, ["pool.json"])


def test_the_check_looks_where_a_run_does(source: Path) -> None:
    result = call(data, "check", "spreadsheetbench")
    assert "data/spreadsheetbench/files: there is no dataset.json" in str(result.exception)
    given = call(data, "check", "spreadsheetbench", "--data-root", "elsewhere")
    assert str(given.exception).startswith("elsewhere: there is no dataset.json")
