from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from reflact.core.errors import Stopped
from reflact.core.usage import Usage
from reflact.models.caller import Caller
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, ModelInfo
from reflact.optimizer.local_teacher import MOST_SHOWN, ModelChooser, local_teacher
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Source

from .fakes import context, ref, trajectory


class Asked:
    """As much of a caller as the teacher needs; says these things in order."""

    def __init__(self, said: Sequence[str | CallError]) -> None:
        self.requests: list[ChatRequest] = []
        self._said = list(said)
        self.model = type("Model", (), {"info": ModelInfo("local", "tiny")})

    async def ask(self, request: ChatRequest, **_: Any) -> ChatReply:
        self.requests.append(request)
        said = self._said.pop(0)
        if isinstance(said, CallError):
            raise said
        return ChatReply(said, "stop", Usage(calls=1))


def chooser(asked: Asked) -> ModelChooser:
    return ModelChooser(cast(Caller, asked), 30.0)


CANDIDATES = tuple(trajectory(name, question=f"Order {name}", gold=(name,)) for name in "abcdefghijkl")


def test_the_model_points_at_examples() -> None:
    asked = Asked(['{"example": 3}', '{"example": 3}'])
    assert asyncio.run(chooser(asked).choose(context(), CANDIDATES[:5], 2)) == (2, 3)
    first, second = asked.requests
    assert first.schema is not None
    assert first.schema.schema["properties"]["example"]["enum"] == [1, 2, 3, 4, 5]
    assert "Order c" in first.messages[0].content
    assert "Order c" not in second.messages[0].content


def test_no_more_are_shown_than_fit() -> None:
    asked = Asked([f'{{"example": {MOST_SHOWN}}}'])
    assert asyncio.run(chooser(asked).choose(context(), CANDIDATES, 1)) == (MOST_SHOWN - 1,)


def test_the_only_one_needs_no_call() -> None:
    assert asyncio.run(chooser(Asked([])).choose(context(), CANDIDATES[:1], 4)) == (0,)


@pytest.mark.parametrize("said", ["", "3", '{"example": 0}', '{"example": 9}', '{"example": true}', '{"other": 1}'])
def test_a_reply_that_names_none_is_a_failure_of_the_teacher(said: str) -> None:
    with pytest.raises(TeacherFailure) as caught:
        asyncio.run(chooser(Asked([said])).choose(context(), CANDIDATES[:3], 1))
    assert caught.value.cause == "invalid"


def test_a_prompt_that_does_not_fit_is_a_failure_of_the_teacher() -> None:
    error = CallError(Failure.BAD_REQUEST, "too long", item_specific=True)
    with pytest.raises(TeacherFailure):
        asyncio.run(chooser(Asked([error])).choose(context(), CANDIDATES[:3], 1))


def test_a_model_that_does_not_answer_stops_the_run() -> None:
    with pytest.raises(Stopped):
        asyncio.run(chooser(Asked([CallError(Failure.NO_ANSWER, "silence")])).choose(context(), CANDIDATES[:3], 1))


def test_its_choice_becomes_the_edit() -> None:
    teacher = local_teacher(cast(Caller, Asked(['{"example": 2}'])), 30.0)
    refs = tuple(ref(name, question=f"Order {name}", gold=(name,)) for name in "abc")
    analysis = asyncio.run(teacher.analyse(context(), Source.FAILURE, refs))
    assert [body["content"] for body in analysis.changes] == ["Order b\nAnswer: b"]
