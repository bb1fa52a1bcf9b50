from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflact.config.compose import Composer
from reflact.core.errors import ConfigError, Refused, Stopped
from reflact.core.hashing import text_digest
from reflact.core.names import StopCause
from reflact.engine.summary import Summary
from reflact.report.prompt_list import templates

Rehearse = Callable[..., tuple[Summary, Path]]


def history(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "history.jsonl").read_text(encoding="utf-8").splitlines()]


def results(root: Path) -> dict[str, bytes]:
    """Return everything that must be equal in equal runs."""
    names = ["history.jsonl", "best_skill.md", *sorted(str(p.relative_to(root)) for p in root.glob("skills/*"))]
    names += sorted(str(p.relative_to(root)) for p in root.glob("steps/*/*.json"))
    names += sorted(str(p.relative_to(root)) for p in root.glob("steps/*/patches/*.json"))
    return {name: (root / name).read_bytes() for name in names}


def scores(summary: Summary) -> dict[str, Any]:
    keys = [
        "baseline",
        "best",
        "final",
        "delta_test",
        "confidence",
        "steps",
        "rows",
        "usage",
        "validity",
        "stop_reason",
    ]
    return {key: summary.data[key] for key in keys}


def test_equal_runs_have_equal_bytes_at_any_concurrency(rehearse: Rehearse) -> None:
    one, first = rehearse("env.workers=1", "gradient.analyst_workers=1", "rehearsal.latency_s=0.001", name="one")
    many, second = rehearse("env.workers=40", "rehearsal.latency_s=0.001", name="many")
    assert results(first) == results(second)
    assert scores(one) == scores(many)


def test_the_record_names_version_and_hash_of_every_prompt_of_both_models(rehearse: Rehearse) -> None:
    _, root = rehearse("benchmark=searchqa", "env.sample=true", "train.num_epochs=1")
    record = json.loads((root / "config.json").read_text(encoding="utf-8"))
    teacher = {name: (record["prompt_versions"][name], digest) for name, digest in record["prompts"].items()}
    student = {
        name: (prompt["version"], prompt["sha256"]) for name, prompt in record["benchmark_settings"]["prompts"].items()
    }
    shown = templates(Composer().compose(["benchmark=searchqa"]))
    assert teacher == {t.name: (t.version, t.sha256) for t in shown if t.role == "teacher"}
    assert student == {t.name: (t.version, t.sha256) for t in shown if t.role == "student"}


def test_the_loop_keeps_its_promises(rehearse: Rehearse) -> None:
    summary, root = rehearse("train.batch_size=8", "train.num_epochs=4", "optimizer.learning_rate=2")
    records = history(root)
    steps = [r for r in records if r["kind"] == "step"]
    assert [r["step"] for r in steps] == list(range(1, len(steps) + 1))
    best = float("-inf")
    measured = {}
    for record in records:
        assert record["best"]["score"] >= best, "the best score never falls"
        best = record["best"]["score"]
        if record["candidate"] and record["candidate"]["score"] is not None:
            measured[record["candidate"]["sha256"]] = record["candidate"]["score"]
        if record["kind"] == "step":
            assert record["edits"]["applied"] <= record["edits"]["budget"] == 2
    text = (root / "best_skill.md").read_text(encoding="utf-8")
    assert text_digest(text) in {*measured, text_digest((root / "skills" / "step_0000.md").read_text(encoding="utf-8"))}
    assert summary.data["best"]["skill_sha256"] == text_digest(text)
    assert summary.data["simulated"] is True
    assert summary.data["steps"]["total"] == len(steps)


def test_without_a_test_evaluation_no_test_item_is_touched(rehearse: Rehearse) -> None:
    summary, root = rehearse("evaluation.eval_test=false", "train.num_epochs=1")
    assert summary.data["baseline"]["test"] is None
    assert not (root / "baseline" / "test").exists()
    assert sum(summary.data["rows"]["test"].values()) == 0


def test_the_first_items_of_a_split_can_be_asked_for(rehearse: Rehearse) -> None:
    summary, _ = rehearse("evaluation.sel_env_num=12", "evaluation.test_env_num=20", "train.num_epochs=1")
    assert summary.data["baseline"]["selection"]["n"] == 12
    assert summary.data["baseline"]["test"]["n"] == 20


def test_a_skill_is_evaluated_on_test_once_however_often_it_is_asked_for(rehearse: Rehearse) -> None:
    summary, root = rehearse("optimizer.learning_rate=0", "optimizer.use_slow_update=false", "train.num_epochs=2")
    assert summary.data["best"]["origin"] == "initial"
    assert summary.data["best"]["test"] == summary.data["baseline"]["test"] == summary.data["final"]["test"]
    assert not (root / "test").exists()


def test_learning_rate_zero_applies_nothing_and_asks_nothing(rehearse: Rehearse) -> None:
    summary, root = rehearse("optimizer.learning_rate=0", "optimizer.use_slow_update=false", "train.num_epochs=2")
    assert {r["action"] for r in history(root) if r["kind"] == "step"} == {"skip_no_patches"}
    assert "reflect" not in summary.data["usage"].get("teacher", {})


def test_patience_ends_training(rehearse: Rehearse) -> None:
    summary, _ = rehearse(
        "optimizer.learning_rate=0", "optimizer.patience=2", "train.batch_size=4", "train.num_epochs=3"
    )
    assert summary.data["stop_reason"] == "patience"
    assert summary.data["steps"]["total"] == 2


def test_accumulation_pools_patches_of_several_micro_batches(rehearse: Rehearse) -> None:
    _, root = rehearse("train.batch_size=4", "train.accumulation=2", "train.num_epochs=1", "gradient.minibatch_size=4")
    first = history(root)[0]
    assert len(first["batch_seeds"]) == 2
    assert first["rollout"]["n"] == 8
    names = sorted(path.stem for path in (root / "steps" / "step_0001" / "patches").glob("*.json"))
    assert any(name.startswith("micro2_") for name in names)


def test_the_empty_protected_block_costs_no_evaluation(rehearse: Rehearse) -> None:
    _, root = rehearse("optimizer.learning_rate=0", "train.num_epochs=1")
    slow = (root / "skills" / "epoch_01_slow.md").read_text(encoding="utf-8")
    assert "reflact:slow-update:start" in slow
    assert not list(root.glob("slow_update/*/selection"))


def test_forced_slow_updates_are_taken_and_measured(rehearse: Rehearse) -> None:
    _, root = rehearse("optimizer.slow_update_gate=forced", "train.num_epochs=3")
    slow = [r for r in history(root) if r["kind"] == "slow_update"]
    assert slow
    assert all(r["action"] == "force_accept" and r["candidate"]["score"] is not None for r in slow)
    assert all(r["current"]["sha256"] == r["candidate"]["sha256"] for r in slow)


def test_without_the_gate_every_candidate_is_taken_and_measured(rehearse: Rehearse) -> None:
    summary, root = rehearse("evaluation.use_gate=false", "train.batch_size=8", "train.num_epochs=2")
    candidates = [r for r in history(root) if r["candidate"]]
    assert candidates
    assert all(r["action"] == "force_accept" for r in candidates)
    assert summary.data["best"]["selection"]["hard"] == max(
        [summary.data["baseline"]["selection"]["hard"], *(r["candidate"]["score"] for r in candidates)]
    )


def test_a_budget_stops_the_run_and_a_larger_one_goes_on(rehearse: Rehearse) -> None:
    whole, expected = rehearse("train.num_epochs=2", name="whole")
    tokens = whole.data["tokens_total"] // 2
    with pytest.raises(Stopped, match=r"budget\.max_tokens") as stop:
        rehearse("train.num_epochs=2", f"budget.max_tokens={tokens}", name="part")
    assert stop.value.cause is StopCause.BUDGET
    resumed, root = rehearse("train.num_epochs=2", "run.resume=true", name="part")
    assert results(root) == results(expected)
    assert {**scores(resumed), "usage": None} == {**scores(whole), "usage": None}


def test_a_directory_is_used_once(rehearse: Rehearse) -> None:
    rehearse("train.num_epochs=1")
    with pytest.raises(Refused, match=r"run\.resume=true"):
        rehearse("train.num_epochs=1")


def test_resuming_a_finished_run_costs_nothing(rehearse: Rehearse) -> None:
    first, root = rehearse("train.num_epochs=2")
    calls: list[str] = []
    again, _ = rehearse("train.num_epochs=2", "run.resume=true", listeners=[lambda e: calls.append(e.kind)])
    assert again.to_json() == first.to_json()
    assert "call" not in calls
    (root / "summary.json").unlink()
    rebuilt, _ = rehearse("train.num_epochs=2", "run.resume=true", listeners=[lambda e: calls.append(e.kind)])
    assert "call" not in calls
    assert scores(rebuilt) == scores(first)


def test_another_configuration_is_refused_with_the_difference(rehearse: Rehearse) -> None:
    rehearse("train.num_epochs=1")
    with pytest.raises(Refused, match=r"optimizer\.learning_rate: \d+ -> 9"):
        rehearse("train.num_epochs=1", "optimizer.learning_rate=9", "run.resume=true")


def test_what_may_differ_may_differ_on_resume(rehearse: Rehearse) -> None:
    _, root = rehearse("train.num_epochs=1")
    (root / "summary.json").unlink()
    rehearse("train.num_epochs=1", "run.resume=true", "env.workers=3", "evaluation.error_retry_rounds=5")
    changed = [line for line in (root / "events.jsonl").read_text().splitlines() if "changed_on_resume" in line]
    assert any("env.workers" in line for line in changed)


def test_a_copied_directory_stands_alone(rehearse: Rehearse, tmp_path: Path) -> None:
    import shutil

    first, root = rehearse("train.num_epochs=2", name="run")
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    (copy / "summary.json").unlink()
    (root / "best_skill.md").write_text("tampered with", encoding="utf-8")
    again, _ = rehearse("train.num_epochs=2", "run.resume=true", name="copy")
    assert scores(again) == scores(first)
    assert "tampered" not in (copy / "best_skill.md").read_text(encoding="utf-8")


def test_rows_of_another_skill_are_ignored_and_said(rehearse: Rehearse) -> None:
    first, root = rehearse("train.num_epochs=1", name="run")
    (root / "summary.json").unlink()
    (root / "state.json").unlink()
    path = root / "baseline" / "selection" / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["key"], row["hard"] = "0" * 64, 1.0
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    seen: list[str] = []
    again, _ = rehearse(
        "train.num_epochs=1", "run.resume=true", name="run", listeners=[lambda e: seen.append(getattr(e, "code", ""))]
    )
    assert "foreign_rows" in seen
    assert again.data["baseline"]["selection"] == first.data["baseline"]["selection"]


def test_gate_that_can_accept_nothing_is_refused_before_anything_is_written(rehearse: Rehearse, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gate_alpha"):
        rehearse("evaluation.gate_rule=paired", "evaluation.sel_env_num=4")
    assert not (tmp_path / "run").exists()
