"""Whole runs on orders: simulated ones repeat whatever the concurrency, and the real small model learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import reflact

from ...models.local_support import needs_local_model


def train(folder: Path, *overrides: str) -> dict[str, Any]:
    config = reflact.compose(["benchmark=orders", "display.mode=off", f"env.out_root={folder}", *overrides])
    return reflact.train(config).to_json()


def result(folder: Path) -> tuple[str, ...]:
    return tuple((folder / name).read_text() for name in ("history.jsonl", "best_skill.md"))


TROUBLE = ("rehearsal.rate_limit_rate=0.05", "rehearsal.empty_rate=0.02", "limits.backoff_s=0.001")


@pytest.mark.parametrize("mode", ["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"])
def test_rehearsals_repeat_whatever_the_concurrency(tmp_path: Path, mode: str) -> None:
    keys = ["harness=rehearsal", f"optimizer.skill_update_mode={mode}", *TROUBLE]
    summary = train(tmp_path / "one", *keys, "env.workers=1", "gradient.analyst_workers=1")
    train(tmp_path / "many", *keys, "env.workers=24")
    assert result(tmp_path / "one") == result(tmp_path / "many")
    assert summary["simulated"]
    assert summary["best"]["selection"]["hard"] > summary["baseline"]["selection"]["hard"]


def test_a_rehearsal_with_every_stage_switched_on(tmp_path: Path) -> None:
    summary = train(
        tmp_path / "run",
        "harness=rehearsal",
        "optimizer.use_slow_update=true",
        "optimizer.use_meta_skill=true",
        "optimizer.use_meta_reflect=true",
        "optimizer.lr_control_mode=autonomous",
        "gradient.use_deep_reflect=true",
        "train.num_epochs=3",
    )
    stages = set(summary["usage"]["teacher"])
    assert {"reflect", "aggregate", "slow_update", "meta_skill", "meta_reflect", "learning_rate"} <= stages


@needs_local_model
@pytest.mark.heavy
@pytest.mark.parametrize("teacher", ["template", "local"])
def test_the_small_model_learns(tmp_path: Path, teacher: str) -> None:
    summary = train(
        tmp_path / "run",
        "harness=local",
        f"model.teacher_backend={teacher}",
        "train.num_epochs=1",
        "evaluation.sel_env_num=8",
        "evaluation.test_env_num=12",
    )
    assert summary["baseline"]["test"]["hard"] < 0.2
    assert summary["best"]["test"]["hard"] >= 0.6
    assert not summary["simulated"]
    assert summary["validity"]["valid"], json.dumps(summary["validity"])
