from __future__ import annotations

import asyncio

import pytest

from reflact.config.operation import LimitsConfig
from reflact.core.usage import Usage
from reflact.models.hedge import Latencies, race
from reflact.models.protocol import CallError, ChatReply, Failure

from .support import USAGE, Bench, error, reply


async def _never() -> ChatReply:
    await asyncio.sleep(60)
    return reply("late")


async def _at_once() -> ChatReply:
    return reply("soon")


async def _fails() -> ChatReply:
    raise error(Failure.SERVER)


def test_a_fast_call_is_sent_once() -> None:
    result = asyncio.run(race(_at_once, _never, 5.0))
    assert result.reply.text == "soon" and not result.hedged and result.other == Usage()


def test_the_first_answer_counts_and_the_other_is_paid() -> None:
    result = asyncio.run(race(_never, _at_once, 0.01))
    assert result.reply.text == "soon" and result.hedged
    assert result.other == Usage(failed_calls=1, prompt_tokens=USAGE.prompt_tokens)


def test_a_failed_second_attempt_does_not_end_the_first() -> None:
    async def slow() -> ChatReply:
        await asyncio.sleep(0.05)
        return reply("first")

    result = asyncio.run(race(slow, _fails, 0.01))
    assert result.reply.text == "first" and result.other == Usage(failed_calls=1)


def test_two_failures_are_one_error_with_two_attempts() -> None:
    async def slow_failure() -> ChatReply:
        await asyncio.sleep(0.05)
        raise error(Failure.CONNECTION)

    with pytest.raises(CallError) as caught:
        asyncio.run(race(slow_failure, _fails, 0.01))
    assert caught.value.failure is Failure.CONNECTION and caught.value.usage == Usage(failed_calls=1)


def test_cancelling_the_race_cancels_both() -> None:
    ended: list[str] = []

    async def tracked() -> ChatReply:
        try:
            return await _never()
        finally:
            ended.append("ended")

    async def run() -> None:
        task = asyncio.create_task(race(tracked, tracked, 0.0))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert ended == ["ended", "ended"]


def test_the_quantile_is_of_answers_of_the_same_phase_and_needs_some() -> None:
    latencies = Latencies(0.9)
    key = ("rollout", "train")
    for seconds in range(19):
        latencies.add(key, float(seconds))
    assert latencies.threshold(key) is None
    latencies.add(key, 19.0)
    assert latencies.threshold(key) == 18.0
    assert latencies.threshold(("gate", "selection")) is None
    assert Latencies(None).threshold(key) is None


def test_a_straggler_is_sent_a_second_time_and_both_are_recorded() -> None:
    async def straggle() -> ChatReply:
        await asyncio.sleep(60)
        return reply("late")

    steps = [*[reply()] * 20, lambda _: straggle(), reply("second")]
    bench = Bench(steps, limits=LimitsConfig(hedge_after=0.9))

    async def run() -> ChatReply:
        for _ in range(20):
            await bench.ask()
        return await bench.ask()

    got = asyncio.run(run())
    assert got.text == "second" and len(bench.model.requests) == 22
    assert got.usage == USAGE + Usage(failed_calls=1, prompt_tokens=USAGE.prompt_tokens)
    assert [event.cause for event in bench.of_kind("retry")] == ["hedge"]
    assert bench.meter.total.calls == 21
