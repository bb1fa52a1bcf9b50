"""Each switch does what its name says; those that only save time change nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflact.engine.summary import Summary
from tests.engine.test_training import history, results, scores

Rehearse = Callable[..., tuple[Summary, Path]]
SHAPE = ("train.batch_size=4", "train.num_epochs=2", "gradient.minibatch_size=2", "rehearsal.latency_s=0.001")


def calls(summary: Summary, role: str, stage: str) -> int:
    phases = summary.data["usage"].get(role, {}).get(stage, {})
    return sum(counts["calls"] for counts in phases.values())


@pytest.mark.parametrize(
    ("switch", "other"),
    [
        ("evaluation.overlap_baseline_test=true", "evaluation.overlap_baseline_test=false"),
        ("limits.hedge_after=null", "limits.hedge_after=0.5"),
        ("train.speculate=false", "train.speculate=true"),
        ("env.workers=1", "env.workers=64"),
    ],
)
def test_scheduling_changes_nothing_but_time(rehearse: Rehearse, switch: str, other: str) -> None:
    plain, first = rehearse(*SHAPE, switch, name="plain")
    quick, second = rehearse(*SHAPE, other, name="quick")
    assert results(first) == results(second)
    assert scores(plain) | {"usage": None} == scores(quick) | {"usage": None}


def test_speculation_keeps_rows_of_rejected_steps_and_throws_the_others_away(rehearse: Rehearse) -> None:
    _, root = rehearse(*SHAPE, "train.speculate=true", name="quick")
    assert not list(root.glob("speculation/*")), "rows that do not count are nowhere"
    discarded = [
        event
        for line in (root / "events.jsonl").read_text(encoding="utf-8").splitlines()
        if (event := json.loads(line))["kind"] == "stage" and event["stage"] == "speculation"
    ]
    records = [r for r in history(root) if r["kind"] == "step" and r["candidate"]]
    accepted_inside_epoch = [r for r in records if r["action"].startswith("accept") and r["step"] % 4]
    assert len(discarded) == len(accepted_inside_epoch)


def test_early_rejection_changes_only_the_gate_record_and_usage(rehearse: Rehearse) -> None:
    def without_gate(root: Path) -> list[dict[str, Any]]:
        kept = []
        for record in history(root):
            candidate = record["candidate"]
            record["gate"] = None
            if record["action"] == "reject" and candidate:
                candidate["score"] = candidate["selection"] = None
            kept.append(record)
        return kept

    plain, first = rehearse(*SHAPE, "env.workers=2", name="plain")
    quick, second = rehearse(*SHAPE, "env.workers=2", "evaluation.early_reject=true", name="quick")
    assert without_gate(first) == without_gate(second)
    assert (first / "best_skill.md").read_bytes() == (second / "best_skill.md").read_bytes()
    cut = [record["gate"] for record in history(second) if record["gate"].get("bound")]
    assert cut, "something was hopeless"
    assert all(gate["bound"] <= gate["n"] for gate in cut)
    assert sum(quick.data["rows"]["selection"].values()) < sum(plain.data["rows"]["selection"].values())


def test_early_rejection_leaves_the_same_bytes_whatever_was_done_beyond_the_bound(rehearse: Rehearse) -> None:
    shape = (*SHAPE, "evaluation.early_reject=true", "optimizer.use_meta_reflect=true")
    _, narrow = rehearse(*shape, "env.workers=1", name="narrow")
    _, wide = rehearse(*shape, "env.workers=64", name="wide")
    assert any(record["gate"].get("bound") for record in history(narrow)), "something was hopeless"
    assert results(narrow) == results(wide)


def test_deep_reflect_adds_analyses_of_items_done_again(rehearse: Rehearse) -> None:
    plain, first = rehearse(*SHAPE, name="plain")
    counts = ("gradient.deep_reflect_failures=3", "gradient.deep_reflect_successes=1")
    deep, second = rehearse(*SHAPE, "gradient.use_deep_reflect=true", *counts, name="deep")
    records = [r for r in history(second) if r["kind"] == "step"]
    assert all(1 <= len(r["deep_reflect"]["items"]) <= 4 for r in records)
    assert calls(deep, "teacher", "deep_reflect") == len(records)
    assert any(path.name.startswith("deep_") for path in second.glob("steps/*/patches/*.json"))
    assert calls(plain, "student", "deep_reflect") == 0 < calls(deep, "student", "deep_reflect")
    assert not list(first.glob("steps/*/deep_rollout"))
    assert not any("While working on this task" in p.read_text(encoding="utf-8") for p in second.glob("skills/*"))


@pytest.mark.parametrize("slow", ["true", "false"])
@pytest.mark.parametrize("meta", ["true", "false"])
def test_slow_update_and_meta_skill_in_all_four_combinations(rehearse: Rehearse, slow: str, meta: str) -> None:
    summary, root = rehearse(
        *SHAPE, "train.num_epochs=3", f"optimizer.use_slow_update={slow}", f"optimizer.use_meta_skill={meta}"
    )
    assert bool([r for r in history(root) if r["kind"] == "slow_update"]) == (slow == "true")
    assert (root / "meta_skill" / "epoch_02" / "meta_skill_result.json").exists() == (meta == "true")
    assert not (root / "meta_skill" / "epoch_03" / "meta_skill_result.json").exists(), "nobody would read it"
    assert (calls(summary, "student", "slow_update") + calls(summary, "student", "meta_skill") > 0) == (
        "true" in (slow, meta)
    )
    marked = (
        "reflact:slow-update:start" in (root / "skills" / "epoch_01_slow.md").read_text() if slow == "true" else False
    )
    assert marked == (slow == "true")


@pytest.mark.parametrize("policy", ["mixed", "changed", "unchanged"])
def test_the_pair_policy_chooses_pairs(rehearse: Rehearse, policy: str) -> None:
    _, root = rehearse(
        *SHAPE, "train.num_epochs=3", f"optimizer.longitudinal_pair_policy={policy}", "optimizer.slow_update_samples=6",
        "evaluation.use_gate=false",
    )  # fmt: skip
    pairs = json.loads((root / "slow_update" / "epoch_02" / "comparison_pairs.json").read_text())["pairs"]
    kinds = {pair["kind"] for pair in pairs}
    rows = (root / "slow_update" / "epoch_02" / "rollout_curr" / "results.jsonl").read_text().splitlines()
    if policy == "mixed":
        assert len(pairs) == len(rows) == 6
    elif policy == "unchanged":
        assert kinds <= {"persistent_fail", "stable_success"}
        assert len(rows) == 6
    else:
        assert kinds <= {"improved", "regressed"}
        assert len(pairs) == 6 or len(rows) == 16, "enough were found, or all were looked at"


@pytest.mark.parametrize("mode", ["rewrite_from_suggestions", "full_rewrite_minibatch"])
def test_rewriting_modes_keep_the_protected_block(rehearse: Rehearse, mode: str) -> None:
    _, root = rehearse(*SHAPE, f"optimizer.skill_update_mode={mode}", "optimizer.slow_update_gate=forced")
    for path in sorted(root.glob("skills/step_000[5-9].md")):
        assert path.read_text(encoding="utf-8").count("reflact:slow-update:start") == 1
    steps = [r for r in history(root) if r["kind"] == "step" and r["candidate"]]
    if mode == "full_rewrite_minibatch":
        assert all(r["edits"]["budget"] is None for r in steps)
        done = json.loads((root / "steps" / "step_0001" / "full_rewrite_result.json").read_text())
        assert done["edit_budget"] is None
    else:
        assert (root / "steps" / "step_0001" / "rewrite_result.json").exists()


def test_the_teacher_may_set_the_learning_rate(rehearse: Rehearse) -> None:
    summary, root = rehearse(*SHAPE, "optimizer.lr_control_mode=autonomous")
    lines = [json.loads(line) for line in (root / "lr_history.jsonl").read_text().splitlines()]
    steps = [r for r in history(root) if r["kind"] == "step" and r["edits"]["merged"]]
    assert [line["step"] for line in lines] == [r["step"] for r in steps]
    assert [line["learning_rate"] for line in lines] == [r["edits"]["budget"] for r in steps]
    assert calls(summary, "teacher", "learning_rate") == len(lines)


def test_no_learning_rate_is_no_limit(rehearse: Rehearse) -> None:
    summary, root = rehearse(*SHAPE, "optimizer.lr_control_mode=none", "optimizer.learning_rate=1")
    steps = [r for r in history(root) if r["kind"] == "step" and r["edits"]["merged"]]
    assert all(r["edits"]["budget"] is None and r["edits"]["selected"] == r["edits"]["merged"] for r in steps)
    assert max(r["edits"]["merged"] for r in steps) > 1
    assert calls(summary, "teacher", "select") == 0


def test_meta_reflect_reviews_each_epoch(rehearse: Rehearse) -> None:
    summary, root = rehearse(*SHAPE, "optimizer.use_meta_reflect=true", "optimizer.meta_learning_rate=1")
    reviews = [r for r in history(root) if r["kind"] == "meta_reflect"]
    assert [r["epoch"] for r in reviews] == [1, 2]
    assert all(r["edits"]["applied"] <= 1 for r in reviews)
    assert calls(summary, "teacher", "meta_reflect") == 2


def test_failures_only(rehearse: Rehearse) -> None:
    _, root = rehearse(*SHAPE, "gradient.failure_only=true")
    names = {path.name for path in root.glob("steps/*/patches/*.json")}
    assert names
    assert not any(name.startswith("success") for name in names)


def test_repeats_at_the_gate_are_kept_apart(rehearse: Rehearse) -> None:
    summary, root = rehearse(*SHAPE, "evaluation.gate_repeats=3", "evaluation.sel_env_num=8", "train.num_epochs=1")
    rows = [json.loads(line) for line in (root / "baseline/selection/results.jsonl").read_text().splitlines()]
    assert len(rows) == 24
    by_item: dict[str, set[float]] = {}
    for row in rows:
        by_item.setdefault(row["id"], set()).add(row["hard"])
    assert any(len(values) > 1 for values in by_item.values()), "a repeat is never served from another"
    assert summary.data["baseline"]["selection"]["n"] == 8


def test_the_paired_rule_says_what_it_rests_on(rehearse: Rehearse) -> None:
    _, root = rehearse(*SHAPE, "evaluation.gate_rule=paired")
    gates = [r["gate"] for r in history(root) if r["kind"] == "step" and "p" in r["gate"]]
    assert gates
    assert all(gate["rule"] == "paired" and 0 <= gate["p"] <= 1 for gate in gates)
