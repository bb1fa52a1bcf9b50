"""`reflact diff`: what differs between two runs, with the items that changed sides."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import reflact
from reflact.core.errors import Stopped
from reflact.rundir.jsonl import read_jsonl
from tests.cli.commands import run, tree


def train(root: Path, *overrides: str) -> Path:
    common = ["harness=rehearsal", "train.num_epochs=1", "optimizer.min_learning_rate=1", f"env.out_root={root}"]
    reflact.train(reflact.compose([*common, *overrides]))
    return root


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    train(folder / "a")
    train(folder / "b", "optimizer.learning_rate=1", "env.workers=3")
    return folder


def compared(folder: Path, first: str, second: str) -> dict[str, Any]:
    result = run(folder, "reflact", "diff", first, second, "--json")
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found


def hard(folder: Path) -> dict[str, float]:
    return {str(row["id"]): float(str(row["hard"])) for _, row in read_jsonl(folder / "results.jsonl")}


def test_keys_that_count_stand_apart_from_those_that_do_not(runs: Path) -> None:
    found = compared(runs, "a", "b")
    assert found["config"] == [{"key": "optimizer.learning_rate", "a": 4, "b": 1}]
    assert [entry["key"] for entry in found["config_without_effect"]] == ["env.workers"]
    assert found["made_with"] == []


def test_flips_are_those_of_the_rows(runs: Path) -> None:
    before, after = hard(runs / "a/test/best"), hard(runs / "b/test/best")
    gained = sorted(item for item in before if before[item] < after[item])
    lost = sorted(item for item in before if before[item] > after[item])
    assert gained or lost
    items = compared(runs, "a", "b")["items"]["test"]
    assert sorted(entry["id"] for entry in items["wrong_to_right"]) == gained
    assert sorted(entry["id"] for entry in items["right_to_wrong"]) == lost
    assert items["n"] == len(before)
    assert items["difference"] == pytest.approx((len(gained) - len(lost)) / len(before))
    assert items["ci95"][0] <= items["difference"] <= items["ci95"][1]
    back = compared(runs, "b", "a")["items"]["test"]
    assert back["mcnemar_p"] == items["mcnemar_p"]
    assert back["wrong_to_right"] == [{"id": e["id"], "a": e["b"], "b": e["a"]} for e in items["right_to_wrong"]]


def test_the_text_says_what_the_json_says(runs: Path) -> None:
    found, text = compared(runs, "a", "b"), run(runs, "reflact", "diff", "a", "b", "--all").out
    assert "optimizer.learning_rate  4 > 1" in text and "SIMULATED" in text and "\x1b" not in text
    for line in found["skill"]["diff"]:
        assert line in text
    for entry in found["items"]["selection"]["wrong_to_right"]:
        assert entry["id"] in text


def test_nothing_changes_by_comparing(runs: Path) -> None:
    before = tree(runs)
    compared(runs, "a", "b")
    assert tree(runs) == before


def test_the_same_run_twice_differs_in_nothing(runs: Path) -> None:
    shutil.copytree(runs / "a", runs / "copy of a")
    found = compared(runs, "a", "copy of a")
    assert not found["config"] and not found["made_with"]
    assert found["skill"] == {"same": True, "diff": []}
    assert found["items"]["test"]["difference"] == 0 and found["items"]["test"]["wrong_to_right"] == []


def test_an_unfinished_run_is_compared_as_far_as_it_came(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train(tmp_path / "stopped", "budget.max_tokens=9000")
    found = compared(tmp_path, str(runs / "a"), "stopped")
    assert found["b"]["state"] == "stopped"
    assert found["items"]["selection"]["n"] > 0
    assert "no scored test rows" in found["items"]["test"]["missing"]
    assert [entry["key"] for entry in found["config_without_effect"]] == ["budget.max_tokens"]


def test_an_evaluation_is_compared_by_its_rows_and_its_skills_hash(runs: Path, tmp_path: Path) -> None:
    overrides = ["harness=rehearsal", f"skill={runs / 'a/best_skill.md'}", "split=test", f"env.out_root={tmp_path}/e"]
    reflact.evaluate(reflact.compose(overrides))
    found = compared(tmp_path, str(runs / "a"), "e")
    assert found["skill"]["same"] is True
    assert found["items"]["test"]["difference"] == 0
    assert "missing" in found["items"]["selection"]


def test_items_of_one_id_with_other_content_are_no_pairs(runs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs / "b", other)
    rows = other / "test/best/results.jsonl"
    first, rest = rows.read_text(encoding="utf-8").split("\n", 1)
    changed = json.dumps({**json.loads(first), "question": "another one"})
    rows.write_text(f"{changed}\n{rest}", encoding="utf-8")
    before, after = (compared(tmp_path, str(runs / "a"), str(b))["items"]["test"] for b in (runs / "b", other))
    assert after["n"] == before["n"] - 1 and after["other_content"] == 1


def test_runs_of_two_benchmarks_share_no_items(runs: Path, tmp_path: Path) -> None:
    train(tmp_path / "other", "benchmark=searchqa", "env.sample=true")
    found = compared(tmp_path, str(runs / "a"), "other")
    assert {"benchmark.name", "env.sample"} <= {entry["key"] for entry in found["config"]}
    assert all("missing" in part for part in found["items"].values())


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("nothing", ["nothing is no directory", "reflact status"]),
        (".", [". is no run directory", "a, b"]),
        ("a", ["the same directory", "two runs"]),
    ],
)
def test_what_is_no_second_run_is_named(runs: Path, second: str, said: list[str]) -> None:
    result = run(runs, "reflact", "diff", "a", second)
    assert result.code == 2 and result.out == ""
    assert all(part in result.err for part in said), result.err


def test_a_run_without_its_record_is_named(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "a", tmp_path / "a")
    (tmp_path / "a/config.json").write_text("{", encoding="utf-8")
    result = run(tmp_path, "reflact", "diff", "a", str(runs / "b"))
    assert result.code == 2 and "a/config.json cannot be read" in result.err
