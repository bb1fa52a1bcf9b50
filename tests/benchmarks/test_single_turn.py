from __future__ import annotations

import asyncio

import pytest

from reflact.benchmarks.single_turn import Answered, ask
from reflact.core.names import RowStatus
from reflact.core.types import Outcome, Turn
from reflact.models.protocol import CallError, ChatReply, Failure, Message
from reflact.testing import FakeSession, scripted_session

from .support import cut

MESSAGES = [Message("system", "S"), Message("user", "U")]


def run(*said: str | ChatReply | CallError) -> tuple[Answered | Outcome, FakeSession]:
    session = scripted_session(said)
    return asyncio.run(ask(session, MESSAGES, lambda reply: "</answer>" in reply)), session


def test_a_usable_reply_is_taken_at_once() -> None:
    answered, session = run("x")
    assert answered == Answered("x", False, 1, (Turn("user", "U"), Turn("assistant", "x")))
    assert len(session.asked) == 1


@pytest.mark.parametrize("first", ["", " \n", cut(""), cut("so far so")])
def test_an_unusable_reply_is_asked_for_once_more(first: str | ChatReply) -> None:
    answered, session = run(first, "x")
    assert isinstance(answered, Answered)
    assert (answered.text, answered.truncated, answered.n_turns) == ("x", False, 2)
    assert [turn.role for turn in answered.conversation] == ["user", "assistant", "assistant"]
    assert [call.messages for call in session.asked] == [tuple(MESSAGES)] * 2


@pytest.mark.parametrize(
    ("replies", "cause"),
    [
        (("", ""), "empty"),
        ((cut(""), cut("")), "length"),
        (("", cut("so far")), "length"),
        ((cut("so far"), ""), "empty"),
    ],
)
def test_two_unusable_replies_are_empty_with_the_last_cause(replies: tuple[str | ChatReply, ...], cause: str) -> None:
    outcome, session = run(*replies, "never asked for")
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.cause, outcome.hard, outcome.soft) == (RowStatus.EMPTY, cause, 0.0, 0.0)
    assert outcome.fail_reason
    assert outcome.predicted_answer is None
    assert not outcome.truncated
    assert len(session.asked) == outcome.n_turns == 2


def test_a_cut_reply_with_a_whole_answer_is_usable() -> None:
    answered, session = run(cut("<answer>x</answer> and"))
    assert isinstance(answered, Answered)
    assert answered.truncated
    assert len(session.asked) == 1


def test_a_failed_call_is_not_swallowed() -> None:
    with pytest.raises(CallError):
        run(CallError(Failure.SERVER, "503"))
