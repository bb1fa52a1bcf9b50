"""Which differences make another run."""

from __future__ import annotations

from typing import Any

import pytest

from reflact.config.identity import config_diff, config_hash, difference, effective, free_difference, to_json
from reflact.config.keys import Key, all_keys, get
from reflact.config.schema import Config
from tests.config.test_check import put

MAY_DIFFER = (
    *("env.out_root", "env.workers", "env.env_workers", "gradient.analyst_workers", "evaluation.max_error_rate"),
    *("evaluation.error_retry_rounds", "evaluation.reuse", "evaluation.overlap_baseline_test", "train.speculate"),
    *("model.student_base_url", "model.teacher_azure_openai_endpoint", "model.student_azure_openai_auth_mode"),
    *("pricing.models", "run.resume", "limits.requests_per_minute", "budget.max_usd", "display.mode"),
)


def other(key: Key) -> Any:
    """Return a value that is not the default."""
    if key.choices is not None:
        return next((choice for choice in key.choices if choice != key.default), "another")
    if isinstance(key.default, bool):
        return not key.default
    if isinstance(key.default, int | float):
        return key.default + 1
    if isinstance(key.default, list):
        return ["x"]
    if isinstance(key.default, dict):
        return {"x": 1}
    return 1 if int in key.kinds or float in key.kinds else "x"


@pytest.mark.parametrize("key", all_keys().values(), ids=lambda key: key.name)
def test_every_key_is_free_or_makes_another_run(key: Key) -> None:
    config = Config()
    put(config, key.name, other(key))
    assert (config_hash(config) == config_hash(Config())) is key.free
    assert bool(free_difference(Config(), config)) is key.free


@pytest.mark.parametrize("name", MAY_DIFFER)
def test_what_may_differ_on_resume_is_free(name: str) -> None:
    assert all_keys()[name].free


def test_the_difference_names_key_and_values() -> None:
    config = Config()
    config.optimizer.learning_rate = 8
    config.env.workers = 3
    assert difference(effective(Config()), effective(config)) == [("optimizer.learning_rate", 4, 8)]
    assert config_diff(config, Config()) == {"optimizer.learning_rate": [4, 8]}
    assert free_difference(Config(), config) == [("env.workers", 24, 3)]


def test_an_explicit_floor_that_equals_the_implied_one_is_no_difference() -> None:
    config = Config()
    config.optimizer.min_learning_rate = 2
    assert difference(effective(Config()), effective(config)) == []
    config.optimizer.min_learning_rate = 1
    assert difference(effective(Config()), effective(config)) == [("optimizer.min_learning_rate", 2, 1)]


def test_the_same_content_elsewhere_is_the_same_run() -> None:
    here, there = Config(), Config()
    here.env.split_dir, here.env.skill_init = "a/splits", "a/skill.md"
    there.env.split_dir, there.env.skill_init, there.env.split = "b", "b.md", "4-1-5"
    content = {"env.split_dir": "f1", "env.skill_init": "f2"}
    assert config_hash(here) != config_hash(there)
    assert config_hash(here, content) == config_hash(there, content)
    assert config_hash(here, content) != config_hash(there, {**content, "env.skill_init": "f3"})


def test_true_is_not_one() -> None:
    assert difference({"a": 1}, {"a": True}) == [("a", 1, True)]
    assert difference({"a": None}, {}) == [("a", None, None)]


def test_json_holds_every_key() -> None:
    data = to_json(Config())
    for name in all_keys():
        node: Any = data
        for part in name.split("."):
            node = node[part]
        assert node == get(Config(), name)
