"""A key that does not count where it is set is named, and nobody who takes the defaults is told anything."""

from __future__ import annotations

import pytest

from reflact.config.compose import Composer
from reflact.config.keys import all_keys
from reflact.config.relevance import AGENTS, SCOPES, without_effect

COMPOSER = Composer()


PAIRS = [
    (benchmark, harness)
    for benchmark in COMPOSER.options("benchmark")
    for harness in COMPOSER.options("harness")
    if benchmark != "alfworld" or harness not in AGENTS  # its games need a student that answers messages
]


@pytest.mark.parametrize(("benchmark", "harness"), PAIRS)
def test_defaults_say_nothing(benchmark: str, harness: str) -> None:
    config = COMPOSER.compose([f"benchmark={benchmark}", f"harness={harness}"])
    assert list(without_effect(config)) == []


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("model.codex_exec_sandbox=read-only", "codex_exec"),
        ("model.claude_code_trace_to_teacher=false", "claude_code_exec"),
        ("run.keep_workspaces=true", "agent"),
        ("env.use_sketch=true", "livemathematicianbench"),
        ("rehearsal.seed=2", "rehearsal"),
        ("evaluation.gate_alpha=0.01", "gate_rule=paired"),
        ("optimizer.gepa_metric_calls=9", "optimizer=gepa"),
    ],
)
def test_a_key_that_does_not_count_is_named(line: str, where: str) -> None:
    (told,) = without_effect(COMPOSER.compose(["benchmark=orders", "harness=openai_chat", line]))
    assert told.startswith(f"{line} has no effect here: it counts only with ")
    assert where in told


@pytest.mark.parametrize(
    ("line", "without", "beside"),
    [
        (
            "optimizer.longitudinal_pair_policy=changed",
            ["optimizer.use_slow_update=false"],
            "optimizer.use_meta_skill=true",
        ),
        ("optimizer.slow_update_samples=5", ["optimizer.use_meta_skill=false"], "optimizer.use_slow_update=true"),
        ("optimizer.learning_rate=8", ["optimizer.lr_control_mode=none"], "optimizer.lr_control_mode=autonomous"),
        (
            "optimizer.lr_scheduler=linear",
            ["optimizer.skill_update_mode=full_rewrite_minibatch"],
            "optimizer.skill_update_mode=patch",
        ),
        ("optimizer.rewrite_max_completion_tokens=900", [], "optimizer.skill_update_mode=rewrite_from_suggestions"),
        ("evaluation.gate_rule=paired", ["evaluation.use_gate=false"], "evaluation.use_gate=true"),
    ],
)
def test_a_switch_of_the_loop_that_lacks_its_partner_is_named(line: str, without: list[str], beside: str) -> None:
    (told,) = without_effect(COMPOSER.compose(["benchmark=orders", *without, line]))
    assert told.startswith(f"{line} has no effect here")
    assert list(without_effect(COMPOSER.compose(["benchmark=orders", line, beside]))) == []


def test_where_it_counts_nothing_is_said() -> None:
    lines = ["harness=codex_exec", "model.codex_exec_sandbox=read-only", "run.keep_workspaces=true"]
    assert list(without_effect(COMPOSER.compose(lines))) == []


def test_turns_of_claude_code_count_with_every_benchmark() -> None:
    lines = ["benchmark=searchqa", "env.max_turns=7"]
    assert list(without_effect(COMPOSER.compose([*lines, "harness=claude_code_exec"]))) == []
    (told,) = without_effect(COMPOSER.compose([*lines, "harness=codex_exec"]))
    assert "claude_code_exec" in told


def test_every_scope_speaks_of_keys_that_exist() -> None:
    for scope in SCOPES:
        for name in scope.keys:
            assert any(key.startswith(name) for key in all_keys()), name
