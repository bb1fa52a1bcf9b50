"""Values: every bound of every key, then the rules across keys."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reflact.config.check import check
from reflact.config.keys import Key, all_keys, get
from reflact.config.schema import Config
from reflact.core.errors import ConfigError

NUMBERS = [key for key in all_keys().values() if {int, float} & set(key.kinds)]
CHOICES = [key for key in all_keys().values() if key.choices is not None]


def changed(**values: Any) -> Config:
    """Return the defaults with keys changed, `__` for a dot."""
    config = Config()
    for name, value in values.items():
        put(config, name.replace("__", "."), value)
    return config


def put(config: Config, name: str, value: Any) -> None:
    *parents, last = name.split(".")
    node: Any = config
    for part in parents:
        node = getattr(node, part)
    setattr(node, last, value)


def name(key: Key) -> str:
    return key.name


def test_the_defaults_are_allowed() -> None:
    assert check(Config()) == []


@pytest.mark.parametrize("key", NUMBERS, ids=name)
def test_numbers_beyond_their_bounds_are_refused(key: Key) -> None:
    wrong = [math.nan, math.inf, -math.inf] if float in key.kinds else []
    wrong += [] if key.low is None else [key.low - 1]
    wrong += [] if key.high is None else [key.high + 1]
    for value in wrong:
        config = Config()
        put(config, key.name, value)
        with pytest.raises(ConfigError, match=key.name):
            check(config)


@pytest.mark.parametrize("key", [key for key in NUMBERS if int in key.kinds], ids=name)
def test_zero_is_taken_or_refused_never_replaced(key: Key) -> None:
    config = Config()
    put(config, key.name, 0)
    if key.low is None or key.low <= 0:
        if key.name == "train.batch_size":
            return
        check(config)
        assert get(config, key.name) == 0
    else:
        with pytest.raises(ConfigError, match=key.name):
            check(config)


@pytest.mark.parametrize("key", CHOICES, ids=name)
def test_a_choice_must_be_one_of_the_list(key: Key) -> None:
    config = Config()
    put(config, key.name, "nonsense")
    with pytest.raises(ConfigError, match=rf"{key.name}.*nonsense.*one of"):
        check(config)
    assert key.choices is not None
    for choice in key.choices:
        put(config, key.name, choice)
        check(config)


def test_one_is_not_true() -> None:
    with pytest.raises(ConfigError, match="codex_exec_use_sdk"):
        check(changed(model__codex_exec_use_sdk=1))


@pytest.mark.parametrize("size", [0, -1, True, "Full", "40", ""])
def test_the_batch_is_a_number_or_full(size: Any) -> None:
    with pytest.raises(ConfigError, match=r"train\.batch_size"):
        check(changed(train__batch_size=size))


def test_the_floor_may_not_be_above_the_learning_rate() -> None:
    check(changed(optimizer__min_learning_rate=4))
    with pytest.raises(ConfigError, match=r"min_learning_rate=5.*learning_rate=4"):
        check(changed(optimizer__min_learning_rate=5))
    check(changed(optimizer__learning_rate=1))  # the floor follows


@pytest.mark.parametrize(
    "values",
    [
        {"evaluation__gate_rule": "paired"},
        {"evaluation__use_gate": False},
        {"evaluation__max_error_rate": 0.1},
    ],
)
def test_early_reject_needs_the_strict_gate(values: dict[str, Any]) -> None:
    check(changed(evaluation__early_reject=True))
    with pytest.raises(ConfigError, match="early_reject"):
        check(changed(evaluation__early_reject=True, **values))


@pytest.mark.parametrize("role", ["teacher", "student"])
def test_a_role_has_one_endpoint(role: str) -> None:
    azure, base = f"model__{role}_azure_openai_endpoint", f"model__{role}_base_url"
    check(changed(**{azure: "https://x.openai.azure.com/"}))
    check(changed(**{base: "http://localhost:8000/v1"}))
    with pytest.raises(ConfigError, match=f"{role} has one endpoint"):
        check(changed(**{azure: "https://x.openai.azure.com/", base: "http://localhost:8000/v1"}))
    with pytest.raises(ConfigError, match="http://"):
        check(changed(**{base: "localhost:8000"}))


def test_a_secret_in_the_wrong_key_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        check(changed(model__student_api_key_env="sk-proj-0123"))
    assert "0123" not in str(caught.value)


def test_backends_are_known_by_role() -> None:
    with pytest.raises(ConfigError, match=r"teacher_backend=codex_exec"):
        check(changed(model__teacher_backend="codex_exec"))
    with pytest.raises(ConfigError, match=r"did you mean codex_exec"):
        check(changed(model__student_backend="codex_exce"))


def test_a_heartbeat_must_be_shorter_than_a_claim_lives() -> None:
    with pytest.raises(ConfigError, match="heartbeat_s"):
        check(changed(run__heartbeat_s=300.0))


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check(changed(optimizer__min_learning_rate=9, gradient__merge_batch_size=1, train__batch_size=0))
    assert all(key in str(caught.value) for key in ("min_learning_rate", "merge_batch_size", "batch_size=0"))


def test_an_openai_model_for_claude_code_is_warned_about() -> None:
    (warning,) = check(changed(model__student_backend="claude_code_exec"))
    assert "gpt-5.5" in warning and "sonnet" in warning
    assert check(changed(model__student_backend="claude_code_exec", model__student="sonnet")) == []


def test_half_a_rehearsal_is_warned_about() -> None:
    (warning,) = check(changed(model__student_backend="rehearsal"))
    assert "simulated" in warning
