"""One silent call of an item that has time left."""

from __future__ import annotations

import asyncio

import pytest

from reflact.core.names import RowStatus
from reflact.core.types import Item, Outcome
from reflact.harness.chat import ChatHarness
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import ChatReply, ChatRequest, Message

from .test_chat import ITEM, Model, _harness, _job, _reply, _two_turns


def bounded(model: Model, *, timeout: float = 30.0, call: float | None = 0.05) -> ChatHarness:
    harness = _harness(model, _two_turns, timeout=timeout)
    harness._call_s = call
    return harness


def test_each_attempt_has_its_own_bound() -> None:
    model = Model([_reply()])
    asyncio.run(bounded(model, call=7.0).perform(ITEM, _job()))
    assert [request.timeout_s for request in model.requests] == [7.0, 7.0]
    model = Model([_reply()])
    asyncio.run(bounded(model, timeout=3.0, call=7.0).perform(ITEM, _job()))
    assert all(request.timeout_s <= 3.0 for request in model.requests)


@pytest.mark.parametrize(("again", "status"), [(False, RowStatus.ERROR), (True, RowStatus.TIMEOUT)])
def test_silence_in_a_later_turn_is_silence(again: bool, status: RowStatus) -> None:
    done = asyncio.run(bounded(Model([_reply(), 9.0])).perform(ITEM, _job(again)))
    assert (done.outcome.status, done.outcome.cause) == (status, "no_answer")
    assert done.latency_s < 5


def test_a_turns_own_rehearsal_goes_to_the_model() -> None:
    async def converse(item: Item, session: ChatSession) -> Outcome:
        await session.reply([Message("user", "one")], rehearse=lambda right: f"turn one {right}")
        await session.reply([Message("user", "two")])
        return Outcome(RowStatus.OK, hard=1.0, soft=1.0)

    class Simulated(Model):
        async def complete(self, request: ChatRequest) -> ChatReply:
            assert request.simulation is not None
            self.said = [*getattr(self, "said", []), request.simulation.rehearse(True)]
            return _reply()

    model = Simulated([])
    asyncio.run(_harness(model, converse).perform(ITEM, _job()))
    assert model.said == ["turn one True", "i1 True 7"]
