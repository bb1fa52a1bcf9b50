"""What a plan says of the methods that the loop is compared with: a bound that real runs keep, and not the loop's."""

from __future__ import annotations

from pathlib import Path

import pytest

import reflact
from reflact.core.names import Part
from reflact.engine.plan import Plan, plan_counts

SIZES = {Part.TRAIN: 16, Part.VAL: 32, Part.TEST: 64}


def plan(*overrides: str) -> Plan:
    return plan_counts(reflact.compose(["benchmark=orders", *overrides]), SIZES)


def test_one_shot_is_one_batch_one_call_one_candidate() -> None:
    counts = plan("optimizer=one_shot", "train.num_epochs=4")
    assert (counts.total_steps, counts.teacher_calls, counts.gate_evaluations) == (1, 1, 1)
    assert (counts.rollout_rows, counts.gate_rows, counts.epoch_end_rows) == (8, 32, 0)


def test_gepa_has_the_rows_that_it_is_given() -> None:
    counts = plan("optimizer=gepa", "optimizer.gepa_metric_calls=300", "optimizer.gepa_minibatch_size=3")
    assert counts.rows - counts.test_rows == 300
    assert counts.gate_evaluations == (300 - 32) // (32 + 6)


def test_gepa_with_too_few_rows_measures_the_initial_skill_alone() -> None:
    counts = plan("optimizer=gepa", "optimizer.gepa_metric_calls=40")
    assert (counts.gate_evaluations, counts.teacher_calls, counts.rows - counts.test_rows) == (0, 0, 32)


@pytest.mark.parametrize("method", ["one_shot", "gepa"])
def test_a_run_keeps_its_plan(tmp_path: Path, method: str) -> None:
    if method == "gepa":
        pytest.importorskip("gepa", reason="absent: the package gepa is not installed: pip install 'reflact[gepa]'")
    overrides = ["benchmark=orders", "harness=rehearsal", f"optimizer={method}", f"env.out_root={tmp_path / 'run'}"]
    config = reflact.compose(overrides)
    counts = plan_counts(config, SIZES)
    summary = reflact.train(config).to_json()
    used = [phase for stage in summary["usage"].get("teacher", {}).values() for phase in stage.values()]
    assert 0 < sum(phase["calls"] for phase in used) <= counts.teacher_calls
    rows = sum(sum(statuses.values()) for statuses in summary["rows"].values())
    assert rows <= counts.rows
