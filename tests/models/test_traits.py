from __future__ import annotations

import pytest

from reflact.models.classify import Problem
from reflact.models.traits import Trait, is_unknown_value, trait_behind

ALL = frozenset(Trait)


@pytest.mark.parametrize(
    ("message", "trait"),
    [
        ("Unrecognized request argument supplied: max_completion_tokens", Trait.OLD_TOKEN_CAP),
        ("Unsupported parameter: 'reasoning_effort' is not supported with this model.", Trait.NO_EFFORT),
        ("Unrecognized request argument supplied: reasoning_effort", Trait.NO_EFFORT),
        (
            "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is "
            "supported.",
            Trait.NO_TEMPERATURE,
        ),
        ("Invalid schema for response_format 'analysis': ...", Trait.NO_SCHEMA),
        ("Invalid parameter: 'response_format' of type 'json_schema' is not supported", Trait.NO_SCHEMA),
        ("[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort')}]", Trait.NO_EFFORT),
        ("Unsupported parameter: 'stop' is not supported with this model.", Trait.NO_STOP),
        ("The chatCompletion operation does not work with the specified model, o9-pro.", Trait.RESPONSES_ONLY),
        ("This is not a chat model and thus not supported in the v1/chat/completions endpoint.", Trait.RESPONSES_ONLY),
        ("Something else is invalid", None),
        ("temperature", None),
    ],
)
def test_what_a_400_says(message: str, trait: Trait | None) -> None:
    assert trait_behind(Problem(400, message), ALL, frozenset()) is trait


def test_the_named_parameter_decides() -> None:
    problem = Problem(400, "Unsupported parameter; max_completion_tokens is fine", param="temperature")
    assert trait_behind(problem, ALL, frozenset()) is Trait.NO_TEMPERATURE
    assert trait_behind(Problem(400, "temperature is not supported", param="messages"), ALL, frozenset()) is None


def test_what_was_not_sent_or_is_known_explains_nothing() -> None:
    problem = Problem(400, "temperature is not supported")
    assert trait_behind(problem, frozenset({Trait.NO_EFFORT}), frozenset()) is None
    assert trait_behind(problem, ALL, frozenset({Trait.NO_TEMPERATURE})) is None


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_other_statuses_teach_nothing(status: int) -> None:
    assert trait_behind(Problem(status, "temperature is not supported"), ALL, frozenset()) is None


def test_values_and_parameters() -> None:
    assert is_unknown_value(Problem(400, "Unsupported value: 'minimal'"))
    assert not is_unknown_value(Problem(400, "Unsupported parameter: 'reasoning_effort'"))
