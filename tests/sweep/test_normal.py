"""Which configurations are one run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reflact.core.names import Part
from reflact.sweep.normal import normal_form
from tests.sweep.support import shared_composer

SIZES = {Part.TRAIN: 35, Part.VAL: 18, Part.TEST: 124}


def form(*overrides: str) -> dict[str, object]:
    config = shared_composer().compose(["benchmark=livemathematicianbench", *overrides])
    return normal_form(config, SIZES, "skill", "train")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["train.batch_size=40"], ["train.batch_size=full"]),
        (["train.batch_size=56", "train.accumulation=3"], ["train.batch_size=35"]),
        (["optimizer.lr_scheduler=constant"], ["optimizer.lr_scheduler=constant", "optimizer.min_learning_rate=1"]),
        (["optimizer.lr_scheduler=linear"], ["optimizer.lr_scheduler=cosine"]),
        (["optimizer.lr_control_mode=none"], ["optimizer.lr_control_mode=none", "optimizer.learning_rate=16"]),
        (["ablation/lr_control=lr_control_full_rewrite"], ["optimizer.skill_update_mode=full_rewrite_minibatch"]),
        (["train.num_epochs=2"], ["train.num_epochs=2", "optimizer.use_meta_skill=false"]),
        (["train.num_epochs=1"], ["train.num_epochs=1", "optimizer.slow_update_samples=5"]),
        (["optimizer.slow_update_samples=35"], ["optimizer.slow_update_samples=40"]),
        ([], ["train.train_size=35"]),
        ([], ["evaluation.gate_alpha=0.5"]),
        ([], ["model.student_reasoning_effort=medium"]),
        ([], ["env.workers=3"]),
        ([], ["gradient.minibatch_size=8"]),
    ],
)
def test_the_same_run(one: Sequence[str], other: Sequence[str]) -> None:
    assert form(*one) == form(*other)


@pytest.mark.parametrize(
    "overrides",
    [
        ["train.batch_size=24"],
        ["optimizer.learning_rate=8"],
        ["optimizer.use_meta_skill=false"],
        ["optimizer.slow_update_samples=40"],
        ["optimizer.lr_control_mode=autonomous"],
        ["train.seed=1"],
        ["model.student=gpt-5.4-pro"],
        ["evaluation.gate_rule=paired"],
        ["gradient.minibatch_size=32"],
    ],
)
def test_another_run(overrides: Sequence[str]) -> None:
    assert form(*overrides) != form()
