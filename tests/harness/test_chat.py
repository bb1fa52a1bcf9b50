from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Any

import pytest

from reflact.config.operation import BudgetConfig, LimitsConfig
from reflact.config.schema import Config
from reflact.core.errors import Stopped, Unavailable
from reflact.core.names import Phase, Role, RowStatus, Stage
from reflact.core.types import Item, Outcome, Rule, Turn
from reflact.core.usage import Usage
from reflact.harness.chat import ChatHarness
from reflact.harness.protocol import ChatSession, Job, Performance
from reflact.harness.registry import make_harness
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limits import LocalLimiter
from reflact.models.meter import Meter
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, Message, ModelInfo

ITEM = Item("i1", "what?", ("42",), task_type="sums")
USAGE = Usage(calls=1, prompt_tokens=10, completion_tokens=5)
Converse = Callable[[Item, ChatSession], Awaitable[Outcome]]


def _job(again: bool = False) -> Job:
    return Job("the skill", seed=7, repeat=1, stage=Stage.ROLLOUT, phase=Phase.TRAIN, again=again)


def _reply(text: str = "42") -> ChatReply:
    return ChatReply(text, "stop", USAGE)


def _error(failure: Failure, **more: Any) -> CallError:
    return CallError(failure, f"it was {failure}", **more)


class Model:
    supports_prefill = False
    info = ModelInfo("listed", "m1")

    def __init__(self, steps: Sequence[Any]) -> None:
        self.steps = steps
        self.requests: list[ChatRequest] = []
        self.closed = False

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        if isinstance(step, float):
            await asyncio.sleep(min(step, request.timeout_s))
            if step > request.timeout_s:
                raise _error(Failure.NO_ANSWER)
            return _reply()
        if isinstance(step, CallError):  # a fresh one, as a backend would raise
            raise CallError(
                step.failure,
                str(step),
                status=step.status,
                retry_after_s=step.retry_after_s,
                item_specific=step.item_specific,
                cause=step.cause,
            )
        return step

    async def aclose(self) -> None:
        self.closed = True


class Task:
    """A benchmark that converses as it is told."""

    def __init__(self, converse: Converse | None = None) -> None:
        self._converse = converse

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        if self._converse is not None:
            return await self._converse(item, session)
        reply = await session.reply([Message("system", session.skill), Message("user", item.question)])
        if not reply.text:
            return Outcome(RowStatus.EMPTY, "empty_reply", 0.0, 0.0)
        right = float(reply.text in item.gold)
        return Outcome(RowStatus.OK, hard=right, soft=right, predicted_answer=reply.text, n_turns=1)

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        return f"{item.id} {correct} {seed}"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("add", 0.5),)


def _harness(
    model: Model, converse: Converse | None = None, *, timeout: float = 30.0, budget: BudgetConfig | None = None
) -> ChatHarness:
    config = Config()
    config.env.exec_timeout = timeout
    config.env.max_completion_tokens = 50
    limits = LimitsConfig(backoff_s=0.0, max_attempts=3)
    caller = Caller(
        model,
        Role.STUDENT,
        limiter=LocalLimiter(limits, time.monotonic),
        meter=Meter({}, budget),
        policy=RetryPolicy.of(limits),
        emit=lambda event: None,
        clock=time.monotonic,
        rng=Random(0),
    )
    return ChatHarness(Task(converse), caller, config, time.monotonic)


def perform(harness: ChatHarness, *, again: bool = False) -> Performance:
    return asyncio.run(harness.perform(ITEM, _job(again)))


def test_an_answer() -> None:
    model = Model([_reply()])
    done = perform(_harness(model))
    assert (done.outcome.status, done.outcome.hard, done.usage) == (RowStatus.OK, 1.0, USAGE)
    (request,) = model.requests
    assert request.messages == (Message("system", "the skill"), Message("user", "what?"))
    assert request.max_completion_tokens == 50 and 29 < request.timeout_s <= 30


def test_a_simulated_student_gets_what_it_needs() -> None:
    model = Model([_reply()])
    perform(_harness(model))
    simulation = model.requests[0].simulation
    assert simulation is not None
    assert (simulation.item_id, simulation.repeat, simulation.skill) == ("i1", 1, "the skill")
    assert (simulation.task_type, simulation.rules) == ("sums", (Rule("add", 0.5),))
    assert simulation.rehearse(True) == "i1 True 7"


def test_a_benchmark_may_lower_the_cap_but_not_raise_it() -> None:
    async def converse(item: Item, session: ChatSession) -> Outcome:
        await session.reply([Message("user", "a")], max_completion_tokens=16, stop=("\n",), prefill="x")
        await session.reply([Message("user", "b")], max_completion_tokens=1000)
        return Outcome(RowStatus.OK, hard=1.0, soft=1.0)

    model = Model([_reply()])
    perform(_harness(model, converse))
    assert [request.max_completion_tokens for request in model.requests] == [16, 50]
    assert (model.requests[0].stop, model.requests[0].prefill) == (("\n",), None)


def test_an_empty_reply_has_one_more_chance() -> None:
    model = Model([_reply(""), _reply()])
    done = perform(_harness(model))
    assert (done.outcome.status, done.usage.calls) == (RowStatus.OK, 2)
    model = Model([_reply("")])
    done = perform(_harness(model))
    assert (done.outcome.status, len(model.requests)) == (RowStatus.EMPTY, 2)


def test_silence_is_an_error_first_and_a_timeout_when_it_comes_again() -> None:
    first = perform(_harness(Model([9.0]), timeout=0.05))
    assert (first.outcome.status, first.outcome.cause, first.outcome.hard) == (RowStatus.ERROR, "no_answer", None)
    second = perform(_harness(Model([9.0]), timeout=0.05), again=True)
    assert (second.outcome.status, second.outcome.cause, second.outcome.hard) == (RowStatus.TIMEOUT, "no_answer", 0.0)
    assert first.usage.failed_calls == 1 and 0.04 < first.latency_s < 2


async def _two_turns(item: Item, session: ChatSession) -> Outcome:
    await session.reply([Message("system", session.skill), Message("user", "one")])
    await session.reply([Message("user", "one"), Message("assistant", "42"), Message("user", "two")])
    return Outcome(RowStatus.OK, hard=1.0, soft=1.0)


def test_time_that_ends_after_an_answer_is_the_students() -> None:
    done = perform(_harness(Model([_reply(), 9.0]), _two_turns, timeout=0.05))
    outcome = done.outcome
    assert (outcome.status, outcome.cause, outcome.hard, outcome.soft) == (RowStatus.TIMEOUT, "exec_timeout", 0.0, 0.0)
    assert outcome.n_turns == 1 and outcome.fail_reason is not None
    assert outcome.conversation == (Turn("user", "one"), Turn("assistant", "42"), Turn("user", "two"))
    assert done.usage == USAGE + Usage(failed_calls=1)


def test_code_of_the_benchmark_that_hangs_is_ended() -> None:
    async def converse(item: Item, session: ChatSession) -> Outcome:
        await session.reply([Message("user", "one")])
        await asyncio.sleep(60)
        raise AssertionError

    done = perform(_harness(Model([_reply()]), converse, timeout=0.05))
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.TIMEOUT, "exec_timeout")
    assert done.latency_s < 5


def test_waiting_for_a_limit_is_not_working_time() -> None:
    busy = _error(Failure.RATE_LIMIT, status=429, retry_after_s=0.3)
    done = perform(_harness(Model([busy, busy, _reply()]), timeout=0.25))
    assert done.outcome.status is RowStatus.OK
    assert done.wait_s >= 0.6 and done.latency_s < 0.25
    assert done.usage == USAGE + Usage(failed_calls=2)


@pytest.mark.parametrize("cause", ["content_filter", "context_length", "bad_image"])
def test_a_refused_item_scores_zero_and_says_why(cause: str) -> None:
    model = Model([_error(Failure.BAD_REQUEST, item_specific=True, cause=cause)])
    outcome = perform(_harness(model)).outcome
    assert (outcome.status, outcome.cause, outcome.hard, outcome.soft) == (RowStatus.REFUSED, cause, 0.0, 0.0)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("failure", "attempts"),
    [(Failure.SERVER, 3), (Failure.CONNECTION, 3), (Failure.BAD_REQUEST, 1)],
)
def test_what_the_service_is_to_blame_for_has_no_score(failure: Failure, attempts: int) -> None:
    model = Model([_error(failure)])
    done = perform(_harness(model))
    outcome = done.outcome
    assert (outcome.status, outcome.cause, outcome.hard, outcome.soft) == (RowStatus.ERROR, failure.value, None, None)
    assert len(model.requests) == attempts and done.usage == Usage(failed_calls=attempts)


@pytest.mark.parametrize("failure", [Failure.AUTH, Failure.NOT_FOUND, Failure.QUOTA])
def test_what_every_item_shares_is_raised(failure: Failure) -> None:
    with pytest.raises(Unavailable):
        perform(_harness(Model([_error(failure)])))


def test_a_spent_budget_is_raised() -> None:
    with pytest.raises(Stopped, match=r"budget\.max_tokens"):
        perform(_harness(Model([_reply()]), _two_turns, budget=BudgetConfig(max_tokens=10)))


def test_a_bug_of_the_benchmark_is_an_error_of_its_item(caplog: pytest.LogCaptureFixture) -> None:
    async def converse(item: Item, session: ChatSession) -> Outcome:
        await session.reply([Message("user", "one")])
        raise ZeroDivisionError("oops")

    with caplog.at_level(logging.ERROR):
        done = perform(_harness(Model([_reply()]), converse))
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "bug")
    assert done.outcome.extra == {"error": "ZeroDivisionError: oops"} and done.usage == USAGE
    assert "i1" in caplog.text and "Traceback" in caplog.text


def test_a_timeout_raised_by_the_benchmark_is_a_bug_and_not_the_items_time() -> None:
    async def converse(item: Item, session: ChatSession) -> Outcome:
        raise TimeoutError("a socket of mine")

    assert perform(_harness(Model([_reply()]), converse)).outcome.cause == "bug"


def test_cancellation_passes_through() -> None:
    async def run() -> None:
        task = asyncio.create_task(_harness(Model([30.0])).perform(ITEM, _job()))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_closing_releases_the_model() -> None:
    model = Model([_reply()])
    asyncio.run(_harness(model).aclose())
    assert model.closed


def test_a_chat_backend_gives_the_harness_its_name() -> None:
    config = Config()
    config.model.student_backend = "rehearsal"
    assert make_harness(config, Task(), _harness(Model([_reply()]))._caller).name == "rehearsal"
