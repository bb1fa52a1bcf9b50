from __future__ import annotations

import asyncio

import pytest

from reflact.config.operation import BudgetConfig, LimitsConfig
from reflact.core.errors import Stopped, Unavailable
from reflact.core.names import StopCause
from reflact.core.usage import Usage
from reflact.models.protocol import CallError, Failure, ModelInfo
from reflact.models.slots import Slots
from reflact.models.work_budget import WorkBudget

from .support import USAGE, Bench, FakeTime, ListedModel, error, reply, request, until

RATE = Failure.RATE_LIMIT


def test_an_answer_is_booked_and_reported_once() -> None:
    bench = Bench([reply()])
    got = asyncio.run(bench.ask())
    assert (got.text, got.usage) == ("fine", USAGE)
    (event,) = bench.of_kind("call")
    assert (event.role, event.stage, event.phase, event.model, event.usage) == (
        "student",
        "rollout",
        "train",
        "m1",
        USAGE,
    )
    assert bench.meter.to_json() == {"student": {"rollout": {"train": USAGE.to_json()}}}


@pytest.mark.parametrize("failure", [RATE, Failure.SERVER, Failure.CONNECTION])
def test_what_may_pass_is_tried_again_and_attempts_count_once(failure: Failure) -> None:
    bench = Bench([error(failure), error(failure), reply()])
    got = asyncio.run(bench.ask())
    assert got.usage == USAGE + Usage(failed_calls=2)
    assert [(event.cause, event.attempt) for event in bench.of_kind("retry")] == [
        (failure.value, 1),
        (failure.value, 2),
    ]
    assert bench.meter.total == USAGE + Usage(failed_calls=2)


def test_pauses_double_with_jitter_and_have_a_ceiling() -> None:
    limits = LimitsConfig(max_attempts=6, backoff_s=1, max_backoff_s=4)
    bench = Bench([error(Failure.SERVER)], limits=limits, in_flight=8)
    with pytest.raises(CallError):
        asyncio.run(bench.ask())
    for pause, full in zip(bench.time.slept, [1, 2, 4, 4, 4], strict=True):
        assert full / 2 <= pause <= full
    assert len(bench.model.requests) == 6


@pytest.mark.parametrize("failure", [Failure.BAD_REQUEST, Failure.CONTENT_FILTER])
def test_what_cannot_pass_is_not_tried_again(failure: Failure) -> None:
    bench = Bench([error(failure, item_specific=True, cause="context_length")])
    with pytest.raises(CallError) as caught:
        asyncio.run(bench.ask())
    assert caught.value.cause == "context_length"
    assert caught.value.usage == Usage(failed_calls=1)
    assert len(bench.model.requests) == 1
    (event,) = bench.of_kind("call_failed")
    assert (event.cause, event.usage) == ("context_length", Usage(failed_calls=1))


@pytest.mark.parametrize("failure", [Failure.AUTH, Failure.NOT_FOUND, Failure.QUOTA])
def test_what_all_calls_share_says_where_and_what_to_do(failure: Failure) -> None:
    bench = Bench(ListedModel([error(failure, status=401)], ModelInfo("openai_chat", "gpt-5.5", "https://h/v1")))  # type: ignore[arg-type]
    with pytest.raises(Unavailable) as caught:
        asyncio.run(bench.ask())
    message = str(caught.value)
    assert "gpt-5.5" in message and "https://h/v1" in message and "student" in message
    assert any(word in message for word in ("Check", "Raise"))
    assert len(bench.model.requests) == 1


def test_silence_is_met_twice_at_most() -> None:
    bench = Bench([error(Failure.NO_ANSWER)])
    with pytest.raises(CallError):
        asyncio.run(bench.ask())
    assert len(bench.model.requests) == 2


def test_retry_after_is_waited_for_and_pauses_all_calls() -> None:
    bench = Bench([error(RATE, status=429, retry_after_s=7.0), reply()])

    async def run() -> None:
        first = asyncio.create_task(bench.ask())
        await until(lambda: bench.of_kind("retry"))
        await asyncio.gather(first, bench.ask())

    asyncio.run(run())
    (event,) = bench.of_kind("retry")
    assert event.retry_after_s == 7.0 and 7.0 <= event.wait_s <= 7.7
    assert bench.meter.count_429 == 1 and bench.meter.wait_s >= 7.0
    assert max(event.wait_s for event in bench.of_kind("call")) >= 7.0


def test_a_retry_after_beyond_the_limit_ends_the_call() -> None:
    bench = Bench([error(RATE, retry_after_s=601.0)], limits=LimitsConfig(max_retry_after_s=600))
    with pytest.raises(CallError, match="601 s, beyond limits"):
        asyncio.run(bench.ask())
    assert bench.time.slept == [] and bench.meter.count_429 == 1


def test_a_pause_that_nobody_waits_for_halts_no_other_call() -> None:
    absurd = error(RATE, retry_after_s=86400.0)
    bench = Bench([absurd, reply()], limits=LimitsConfig(max_retry_after_s=600, backoff_s=1.0))
    with pytest.raises(CallError):
        asyncio.run(bench.ask())
    assert asyncio.run(bench.ask()).text == "fine"
    assert sum(bench.time.slept) <= 1.0


def test_waiting_takes_nothing_from_the_items_time() -> None:
    bench = Bench([error(RATE, retry_after_s=3.0), error(RATE, retry_after_s=3.0), reply()])

    async def run() -> WorkBudget:
        budget = WorkBudget(4.0, bench.time)
        await bench.ask(deadline=budget)
        return budget

    budget = asyncio.run(run())
    assert budget.worked_s == pytest.approx(0.0)
    assert budget.waited_s == pytest.approx(bench.meter.wait_s) and budget.waited_s >= 6.0


def test_an_attempt_gets_what_is_left_of_the_items_time() -> None:
    bench = Bench([reply()])

    async def run() -> None:
        budget = WorkBudget(10.0, bench.time)
        bench.time.pass_(6.0)
        await bench.ask(deadline=budget, request=request(timeout_s=30))

    asyncio.run(run())
    assert bench.model.requests[0].timeout_s == pytest.approx(4.0)


def test_no_call_is_made_when_the_items_time_is_up() -> None:
    bench = Bench([reply()])

    async def run() -> None:
        budget = WorkBudget(10.0, bench.time)
        bench.time.pass_(10.0)
        await bench.ask(deadline=budget)

    with pytest.raises(CallError) as caught:
        asyncio.run(run())
    assert caught.value.failure is Failure.NO_ANSWER and bench.model.requests == []


def test_the_last_failure_is_named_when_time_ends_between_attempts() -> None:
    time = FakeTime()

    def slow(_: object) -> None:
        bench.time.pass_(5.0)
        raise error(Failure.SERVER)

    bench = Bench([slow])
    with pytest.raises(CallError) as caught:
        asyncio.run(bench.ask(deadline=WorkBudget(4.0, bench.time)))
    assert caught.value.failure is Failure.SERVER and time.now == 0


def test_a_spent_budget_stops_before_the_next_call() -> None:
    bench = Bench([reply()], budget=BudgetConfig(max_tokens=30))

    async def run() -> None:
        await bench.ask()
        await bench.ask()
        await bench.ask()

    with pytest.raises(Stopped, match=r"budget\.max_tokens=30.*run\.resume=true") as caught:
        asyncio.run(run())
    assert caught.value.cause is StopCause.BUDGET
    assert len(bench.model.requests) == 2


def test_a_slot_is_held_through_all_attempts() -> None:
    async def run() -> None:
        time = FakeTime()
        slots = Slots(1, time)
        bench = Bench([error(Failure.SERVER), lambda _: (held.append(slots.busy), reply())[1]], slots=slots)
        held: list[int] = []
        await bench.ask()
        assert held == [1] and slots.busy == 0

    asyncio.run(run())


def test_notes_of_the_model_become_warnings() -> None:
    bench = Bench([reply(notes=("takes no temperature",))])
    got = asyncio.run(bench.ask())
    (event,) = bench.of_kind("warning")
    assert event.code == "server_trait" and "takes no temperature" in event.message and got.notes == ()


def test_a_cancelled_call_frees_what_it_held() -> None:
    async def run() -> None:
        bench = Bench([lambda _: asyncio.sleep(60), reply()], limits=LimitsConfig(max_concurrent_requests=1))
        task = asyncio.create_task(bench.ask())
        await until(lambda: bench.model.requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await asyncio.wait_for(bench.ask(), 5)).text == "fine"

    asyncio.run(run())


def test_usage_of_a_failed_attempt_is_booked() -> None:
    filtered = error(Failure.CONTENT_FILTER, item_specific=True, usage=Usage(prompt_tokens=3, completion_tokens=2))
    bench = Bench([filtered])
    with pytest.raises(CallError):
        asyncio.run(bench.ask())
    assert bench.meter.total == Usage(failed_calls=1, prompt_tokens=3, completion_tokens=2)
