"""Whatever switches are combined, a run keeps its promises."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reflact.config.compose import Composer
from reflact.core.events import Event
from reflact.core.hashing import text_digest
from reflact.engine.batches import make_schedule
from reflact.engine.run import train
from reflact.engine.tally import tally
from reflact.optimizer.protected import blocks, skill_key
from reflact.rundir.jsonl import read_jsonl

COMPOSER = Composer()
TRAIN_SIZE = 16
SHAPE = ("benchmark=orders", "harness=rehearsal", "evaluation.test_env_num=4", "limits.backoff_s=0")
EVERY = {
    "train.num_epochs": [1, 2, 3],
    "train.batch_size": [5, 8, "full"],
    "train.accumulation": [1, 2],
    "train.speculate": [False, True],
    "train.stop_at_perfect": [False, True],
    "gradient.minibatch_size": [1, 3, 8],
    "gradient.merge_batch_size": [2, 8],
    "gradient.failure_only": [False, True],
    "gradient.use_deep_reflect": [False, True],
    "gradient.max_edits_per_minibatch": [1, 8],
    "optimizer.learning_rate": [0, 1, 4],
    "optimizer.min_learning_rate": ["null", 0],
    "optimizer.lr_scheduler": ["constant", "linear", "cosine"],
    "optimizer.lr_control_mode": ["fixed", "autonomous", "none"],
    "optimizer.skill_update_mode": ["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"],
    "optimizer.use_slow_update": [False, True],
    "optimizer.slow_update_samples": [1, 6],
    "optimizer.slow_update_gate": ["gated", "forced"],
    "optimizer.longitudinal_pair_policy": ["mixed", "changed", "unchanged"],
    "optimizer.use_meta_skill": [False, True],
    "optimizer.use_meta_reflect": [False, True],
    "optimizer.meta_learning_rate": [0, 2],
    "optimizer.max_skill_chars": [0, 150],
    "optimizer.patience": [0, 0, 2],
    "evaluation.use_gate": [True, True, False],
    "evaluation.gate_metric": ["hard", "soft", "mixed"],
    "evaluation.gate_rule": ["strict", "paired"],
    "evaluation.gate_repeats": [1, 1, 2],
    "evaluation.early_reject": [False, True],
    "evaluation.eval_test": [True, False],
    "evaluation.overlap_baseline_test": [True, False],
    "evaluation.sel_env_num": [6, 9],
    "env.skill_init": ["default", "none"],
    "env.workers": [1, 7],
    "rehearsal.seed": [0, 1, 2],
    "rehearsal.empty_rate": [0, 0.1],
    "rehearsal.useless_edit_rate": [0.2, 0.8],
}


def choice(seed: int) -> tuple[str, list[str]]:
    """Return a method and overrides, each value drawn on its own; early rejection gets the rule that it needs."""
    draw = Random(seed)
    chosen = {key: draw.choice(values) for key, values in EVERY.items()}
    if chosen["evaluation.early_reject"]:
        chosen |= {"evaluation.gate_rule": "strict", "evaluation.use_gate": True}
    method = draw.choice(["reflact"] * 8 + ["one_shot", "gepa"])
    return method, [f"{key}={str(value).lower()}" for key, value in chosen.items()]


@pytest.mark.heavy
# A seed and no strategy a key: neighbours would differ in one switch, and there is nothing to shrink.
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None,
          phases=[Phase.generate])  # fmt: skip
def test_promises(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    method, lines = choice(seed)
    config = COMPOSER.compose([*SHAPE, f"optimizer={method}", "optimizer.gepa_metric_calls=60", *lines])
    root = tmp_path_factory.mktemp("promises") / "run"
    config.env.out_root = str(root)
    summary = dict(train(config).data)
    records = [record for _, record in read_jsonl(root / "history.jsonl")]

    _scores_never_fall(records, summary)
    _what_is_current_was_measured(root, records, summary)
    _budgets_are_kept(records, config.optimizer.meta_learning_rate)
    _every_drop_is_counted(root, records)
    _blocks_stay(root, records)
    _steps_are_as_planned(config, method, summary, records)
    _numbers_agree_with_rows(root, config, summary)

    config.run.resume = config.run.allow_code_change = True
    again: list[Event] = []
    assert train(config, listeners=[again.append]).data == summary
    assert again == [], "a finished run makes no call and writes nothing"


def _scores_never_fall(records: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    best = None
    for record in records:
        score = record["best"]["score"]
        assert best is None or score >= best
        best = score
        assert record["current"]["score"] <= record["best"]["score"]
    if records:
        assert records[-1]["best"]["sha256"] == summary["best"]["skill_sha256"]


def _what_is_current_was_measured(root: Path, records: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    """Every skill that was ever current or best is a text with a measured score, or one with an empty block more."""
    measured = {skill_key((root / "skills" / "step_0000.md").read_text(encoding="utf-8"))}
    for record in records:
        candidate = record["candidate"]
        if candidate and candidate["score"] is not None and record["action"] != "reject":
            texts = [path for path in root.glob("skills/*.md") if text_digest(_text(path)) == candidate["sha256"]]
            measured |= {skill_key(_text(path)) for path in texts}
            assert texts or record["best"]["sha256"] != candidate["sha256"]
    for path in root.glob("skills/*.md"):
        assert skill_key(_text(path)) in measured, path
    assert skill_key(_text(root / "best_skill.md")) in measured
    assert text_digest(_text(root / "best_skill.md")) == summary["best"]["skill_sha256"]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _budgets_are_kept(records: list[dict[str, Any]], meta: int) -> None:
    for record in records:
        edits = record["edits"]
        if edits["budget"] is not None:
            assert edits["applied"] <= edits["selected"] <= edits["budget"]
        if record["kind"] == "meta_reflect":
            assert edits["applied"] <= meta


def _every_drop_is_counted(root: Path, records: list[dict[str, Any]]) -> None:
    for record in records:
        if record["kind"] != "step":
            continue
        folder = root / "steps" / f"step_{record['step']:04d}"
        patches = [json.loads(_text(path)) for path in sorted(folder.glob("patches/*.json"))]
        assert record["reflect"]["minibatches"] == len(patches)
        assert record["reflect"]["dropped"] == sum(patch["dropped"] for patch in patches)
        assert record["reflect"]["changes"] == sum(len(p["patch"]["changes"]) for p in patches if p["patch"])
        report = folder / "edit_apply_report.json"
        if report.exists():
            statuses = [edit["status"] for edit in json.loads(_text(report))["edits"]]
            assert record["edits"]["statuses"] == {status: statuses.count(status) for status in dict.fromkeys(statuses)}
            assert len(statuses) == record["edits"]["selected"]
            assert statuses.count("applied") == record["edits"]["applied"]


def _blocks_stay(root: Path, records: list[dict[str, Any]]) -> None:
    """The protected text of a step's candidate is that of the skill it was made from."""
    steps = {record["step"]: record["epoch"] for record in records if record["kind"] == "step"}
    for record in records:
        path = root / "steps" / f"step_{record['step']:04d}" / "candidate_skill.md"
        if record["kind"] == "step" and path.exists():
            assert _protected(_text(path)) == _protected(_before(root, record, steps))


def _before(root: Path, record: dict[str, Any], steps: dict[int, int]) -> str:
    """Return the skill that a step began with: after an epoch's end it is the one that the updates there left."""
    former = record["step"] - 1
    slow = root / "skills" / f"epoch_{record['epoch'] - 1:02d}_slow.md"
    begins = steps.get(former, record["epoch"]) != record["epoch"]
    return _text(slow if begins and slow.exists() else root / "skills" / f"step_{former:04d}.md")


def _protected(text: str) -> list[str]:
    return [text[span.start : span.end] for span in blocks(text)]


def _steps_are_as_planned(config: Any, name: str, summary: dict[str, Any], records: list[dict[str, Any]]) -> None:
    steps = [record for record in records if record["kind"] == "step"]
    assert [record["step"] for record in steps] == list(range(1, summary["steps"]["total"] + 1))
    counted = summary["steps"]
    assert counted["total"] == counted["accepted"] + counted["rejected"] + sum(counted["skipped"].values())
    if name == "reflact" and summary["stop_reason"] == "completed":
        assert len(steps) == make_schedule(config.train, TRAIN_SIZE).total_steps
    if name == "one_shot":
        assert len(steps) == 1


def _numbers_agree_with_rows(root: Path, config: Any, summary: dict[str, Any]) -> None:
    assert tally(root).rows == summary["rows"]
    rows = [row for _, row in read_jsonl(root / "baseline" / "selection" / "results.jsonl")]
    assert summary["baseline"]["selection"]["hard"] == pytest.approx(sum(row["hard"] for row in rows) / len(rows))
    assert len(rows) == config.evaluation.sel_env_num * config.evaluation.gate_repeats
    spent = sum(
        counts["prompt_tokens"] + counts["completion_tokens"]
        for stages in summary["usage"].values()
        for phases in stages.values()
        for counts in phases.values()
    )
    assert spent == summary["tokens_total"]
    if config.evaluation.eval_test:
        assert summary["baseline"]["test"]["n"] == 4
    else:
        assert summary["rows"]["test"]["ok"] == 0
