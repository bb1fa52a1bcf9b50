"""`reflact-eval`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.commands import run, tree


def test_a_skill_is_measured_on_a_part_of_the_split(tmp_path: Path) -> None:
    arguments = ("harness=rehearsal", "skill=none", "split=val", "env.out_root=out", "display.mode=off")
    result = run(tmp_path, "reflact-eval", *arguments)
    assert result.code == 0, result.err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["split"]["part"] == "val" and summary["scores"]["n"] > 0
    before = tree(tmp_path)
    assert run(tmp_path, "reflact-eval", *arguments).code == 73
    assert tree(tmp_path) == before


def test_the_result_and_where_it_lies_are_printed(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-eval", "harness=rehearsal", "skill=none", "split=val", "env.out_root=out")
    assert result.code == 0, result.err
    assert "skill none on the val split: hard 0." in result.out
    assert "out/evaluation/results.jsonl" in result.out
    assert "teacher ;" not in result.err and "0 steps" not in result.err


def test_a_missing_skill_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-eval", "harness=rehearsal", "skill=nowhere.md", "env.out_root=out")
    assert result.code == 2 and "nowhere.md" in result.err
    assert list(tmp_path.iterdir()) == []


def test_an_evaluation_asks_for_no_teacher(tmp_path: Path) -> None:
    nobody = ("model.teacher_backend=openai_chat", "model.teacher_api_key_env=REFLACT_NOT_SET", "budget.max_usd=5")
    arguments = ("harness=rehearsal", *nobody, "skill=none", "split=val", "env.out_root=out", "display.mode=off")
    refused = run(tmp_path, "reflact-train", *arguments[:-4], *arguments[-2:])
    assert refused.code == 69 and "REFLACT_NOT_SET" in refused.err
    result = run(tmp_path, "reflact-eval", *arguments)
    assert result.code == 0, result.err
    record = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert record["teacher"] == "" and record["models"]["teacher"]["backend"] == ""
    swept = run(
        tmp_path,
        "reflact-eval",
        "-m",
        *nobody,
        "harness=rehearsal",
        "skill=none,default",
        "split=val",
        "hydra.sweep.dir=s",
    )
    assert swept.code == 0, swept.err
