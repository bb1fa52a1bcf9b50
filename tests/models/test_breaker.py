from __future__ import annotations

import asyncio

import pytest

from reflact.core.errors import Stopped
from reflact.core.names import StopCause
from reflact.models.backoff import RetryPolicy
from reflact.models.breaker import Breaker
from reflact.models.protocol import CallError, Failure


class Time:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def breaker(time: Time, slots: int = 4) -> Breaker:
    return Breaker("the student's model m", slots, RetryPolicy(max_attempts=6), time, time.sleep)


def down(failure: Failure = Failure.SERVER) -> CallError:
    return CallError(failure, "503 no backend", status=503)


async def broken(subject: Breaker, failures: int = 12) -> None:
    for _ in range(failures):
        assert await subject.admit() is False
    for _ in range(failures):
        subject.failed(down(), False, True)


def test_a_few_failures_stop_nobody() -> None:
    async def main() -> None:
        subject = breaker(Time())
        for _ in range(50):
            await broken(subject, 11)
            subject.answered(False)
        assert await subject.admit() is False

    asyncio.run(main())


def test_after_a_streak_one_call_asks_for_all_and_an_answer_frees_everybody() -> None:
    async def main() -> None:
        time = Time()
        subject = breaker(time)
        await broken(subject)
        assert await subject.admit() is True
        waiting = [asyncio.ensure_future(subject.admit()) for _ in range(5)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        subject.answered(True)
        assert await asyncio.gather(*waiting) == [False] * 5

    asyncio.run(main())


def test_a_service_that_stays_away_stops_the_run_after_a_handful_of_calls() -> None:
    async def main() -> None:
        time = Time()
        subject = breaker(time)
        await broken(subject)
        probes = 0
        with pytest.raises(Stopped, match=r"none of the last 18 attempts.*503.*run\.resume=true") as stop:
            while True:
                assert await subject.admit() is True
                probes += 1
                subject.failed(down(), True, False)
        assert probes == 6
        assert stop.value.cause is StopCause.ERRORS
        assert time.now > 20, "it was given time to come back"

    asyncio.run(main())


def test_silence_is_not_waited_for_six_times() -> None:
    async def main() -> None:
        subject = breaker(Time())
        await broken(subject)
        for _ in range(2):
            await subject.admit()
            subject.failed(down(Failure.NO_ANSWER), True, False)
        with pytest.raises(Stopped):
            await subject.admit()

    asyncio.run(main())


@pytest.mark.parametrize(("answered_before", "least", "most"), [(False, 90, 120), (True, 600, 700)])
def test_a_rate_limit_is_given_more_than_a_minute(answered_before: bool, least: float, most: float) -> None:
    async def main() -> None:
        time = Time()
        subject = breaker(time)
        if answered_before:
            subject.answered(False)
        await broken(subject)
        with pytest.raises(Stopped) as stop:
            while True:
                await subject.admit()
                subject.failed(CallError(Failure.RATE_LIMIT, "429", status=429, retry_after_s=5.0), True, False)
        assert stop.value.cause is StopCause.RATE_LIMIT
        assert least <= time.now <= most

    asyncio.run(main())


def test_a_probe_that_is_cancelled_is_followed_by_another() -> None:
    async def main() -> None:
        subject = breaker(Time())
        await broken(subject)
        assert await subject.admit() is True
        waiting = asyncio.ensure_future(subject.admit())
        await asyncio.sleep(0)
        subject.abandoned(True)
        assert await asyncio.wait_for(waiting, 5) is True

    asyncio.run(main())


def test_requests_that_keep_failing_at_the_end_of_a_phase_say_nothing_about_the_service() -> None:
    async def main() -> None:
        subject = breaker(Time())
        assert await subject.admit() is False
        subject.answered(False)
        for _ in range(200):
            subject.failed(down(), False, False)
        assert await subject.admit() is False

    asyncio.run(main())


def test_a_streak_of_pauses_longer_than_anybody_waits_stops_the_run_without_a_pause() -> None:
    async def main() -> None:
        time = Time()
        subject = breaker(time)
        spent = CallError(Failure.RATE_LIMIT, "daily quota", status=429, retry_after_s=86400.0)
        for _ in range(4):
            assert await subject.admit() is False
        for _ in range(4):
            subject.failed(spent, False, True)
        with pytest.raises(Stopped) as stopped:
            await subject.admit()
        assert stopped.value.cause is StopCause.RATE_LIMIT
        assert time.now == 0.0

    asyncio.run(main())
