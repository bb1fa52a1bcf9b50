"""Names of runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reflact.config.axes import load_axes
from reflact.config.compose import Composer
from reflact.config.run_id import axis_id, benchmark_default, default_out_root, folder_name, run_id, safe

COMPOSER = Composer()


def named(*lines: str) -> str | None:
    config = COMPOSER.compose(lines)
    return axis_id(config, benchmark_default(config, COMPOSER))


VALUES = [(axis, option) for axis in load_axes().axes for option in axis.options]


@pytest.mark.parametrize(("axis", "option"), VALUES, ids=[option.name for _, option in VALUES])
def test_every_value_of_every_axis_has_its_id(axis, option) -> None:  # type: ignore[no-untyped-def]
    expected = "DEFAULT-docvqa-5.5" if option.default else f"{axis.group}-docvqa-{option.label}"
    assert named("benchmark=docvqa", f"ablation/{axis.name}={option.name}") == expected


def test_the_axes_have_the_study_s_counts() -> None:
    runs = {axis.group: sum(not option.default for option in axis.options) for axis in load_axes().axes}
    first = ("SPLIT", "BATCH", "MBS", "LR", "SCHED", "SLOWN", "MOD", "SMODEL")
    assert 1 + sum(runs[group] for group in first) == 28
    assert 1 + sum(runs[group] for group in (*first, "LONGPAIR", "LRCTRL")) == 32
    assert {group: runs[group] for group in first} == {
        "SPLIT": 3,
        "BATCH": 4,
        "MBS": 5,
        "LR": 5,
        "SCHED": 2,
        "SLOWN": 3,
        "MOD": 3,
        "SMODEL": 2,
    }


def test_a_benchmark_with_defaults_of_its_own_has_ids_of_its_own() -> None:
    assert named("benchmark=orders", "ablation/modules=modules_both") == "MOD-orders-both"
    assert named("benchmark=orders", "ablation/modules=modules_none") == "DEFAULT-orders-5.5"


def test_ids_follow_from_values_not_from_how_they_were_given() -> None:
    spelled = ("optimizer.learning_rate=8", "optimizer.lr_scheduler=constant", "optimizer.min_learning_rate=1")
    assert named("benchmark=docvqa", *spelled) == "LR-docvqa-8"
    assert named("benchmark=docvqa", "ablation/lr=lr8", "optimizer.learning_rate=4") == "LR-docvqa-4"


def test_several_axes_are_joined() -> None:
    joint = ("ablation/batch=batch24", "ablation/lr=lr8")
    assert named("benchmark=docvqa", *joint) == "LR-docvqa-8+BATCH-docvqa-24"
    assert named("benchmark=docvqa", *joint[::-1]) == "LR-docvqa-8+BATCH-docvqa-24"


def test_places_and_workers_are_no_part_of_an_id() -> None:
    lines = ("env.workers=2", "env.data_root=elsewhere", "env.split_root=elsewhere", "limits.requests_per_minute=5")
    assert named("benchmark=docvqa", "ablation/lr=lr8", *lines) == "LR-docvqa-8"


@pytest.mark.parametrize("line", ["train.seed=1", "optimizer.learning_rate=8", "harness=codex_exec", "env.sample=true"])
def test_other_runs_are_no_points_of_the_study(line: str) -> None:
    assert named(line) is None


def test_a_run_that_is_no_point_is_called_like_its_folder() -> None:
    config = COMPOSER.compose(["train.seed=1", "env.out_root=outputs/mine"])
    assert run_id(config, benchmark_default(config, COMPOSER)) == "mine"
    assert folder_name(config, benchmark_default(config, COMPOSER)) == "orders-openai_chat"


def test_default_directories_differ_within_a_second() -> None:
    config = COMPOSER.compose([])
    roots = {default_out_root(config, config) for _ in range(50)}
    assert len(roots) == 50
    assert all(re.fullmatch(r"outputs/DEFAULT-orders-5\.5/\d{8}T\d{6}Z-[0-9a-f]{6}", root) for root in roots)


@pytest.mark.parametrize("text", ["a/b", "..", "", "a=1,b=2", "李 明", "x" * 500])
def test_names_of_folders_are_safe(text: str) -> None:
    name = safe(text)
    assert Path(name).name == name and name not in ("", ".", "..") and len(name) <= 120
