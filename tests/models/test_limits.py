from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflact.config.operation import LimitsConfig
from reflact.models.limits import Limiter, Limiters, LimitKey, LocalLimiter

from .support import FakeTime


def _limiter(**limits: Any) -> tuple[LocalLimiter, FakeTime]:
    time = FakeTime()
    return LocalLimiter(LimitsConfig(**limits), time, time.sleep), time


async def _pass(limiter: Limiter, tokens: int = 1) -> float:
    async with limiter.permit(tokens) as permit:
        return permit.waited_s


def test_without_limits_nobody_waits() -> None:
    limiter, time = _limiter()

    async def run() -> list[float]:
        return await asyncio.gather(*[_pass(limiter) for _ in range(50)])

    assert asyncio.run(run()) == [0.0] * 50 and time.slept == []


def test_requests_in_flight_are_bounded_and_served_in_order() -> None:
    limiter, _ = _limiter(max_concurrent_requests=2)
    inside, most, order = 0, 0, []

    async def work(name: int) -> None:
        nonlocal inside, most
        async with limiter.permit(1):
            order.append(name)
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    async def run() -> None:
        await asyncio.gather(*[work(name) for name in range(10)])

    asyncio.run(run())
    assert most == 2 and order == list(range(10))


def test_requests_a_minute_slide() -> None:
    limiter, time = _limiter(requests_per_minute=3)

    async def run() -> list[float]:
        starts = []
        for _ in range(7):
            await _pass(limiter)
            starts.append(time.now)
            time.pass_(1.0)
        return starts

    assert asyncio.run(run()) == [0.0, 1.0, 2.0, 60.0, 61.0, 62.0, 120.0]


def test_tokens_a_minute_and_a_request_above_the_whole_limit() -> None:
    limiter, time = _limiter(tokens_per_minute=100)

    async def run() -> list[float]:
        starts = []
        for tokens in (60, 40, 10, 500, 1):
            await _pass(limiter, tokens)
            starts.append(time.now)
        return starts

    assert asyncio.run(run()) == [0.0, 0.0, 60.0, 120.0, 180.0]


def test_a_cool_down_holds_everybody_and_may_grow_meanwhile() -> None:
    limiter, time = _limiter()
    limiter.cool_down(5.0)
    grown = False

    async def sleep(seconds: float) -> None:
        nonlocal grown
        await time.sleep(seconds)
        if not grown:
            grown = True
            limiter.cool_down(3.0)

    limiter._sleep = sleep  # type: ignore[assignment]

    async def run() -> list[float]:
        return await asyncio.gather(*[_pass(limiter) for _ in range(3)])

    waited = asyncio.run(run())
    assert waited[0] == 8.0 and time.slept == [5.0, 3.0]
    limiter.cool_down(-1.0)
    assert asyncio.run(_pass(limiter)) == 0.0


@pytest.mark.parametrize("limits", [{"max_concurrent_requests": 1}, {"requests_per_minute": 1}])
def test_a_cancelled_wait_leaves_nothing_behind(limits: dict[str, int]) -> None:
    async def run() -> None:
        limiter = LocalLimiter(LimitsConfig(**limits), asyncio.get_running_loop().time, asyncio.sleep)
        async with limiter.permit(1):
            waiting = [asyncio.create_task(_pass(limiter)) for _ in range(3)]
            await asyncio.sleep(0.01)
            for task in waiting[:2]:
                task.cancel()
            await asyncio.gather(*waiting[:2], return_exceptions=True)
        if "max_concurrent_requests" in limits:
            assert await asyncio.wait_for(waiting[2], 5) >= 0
            await asyncio.wait_for(_pass(limiter), 5)
        else:
            waiting[2].cancel()
            await asyncio.gather(waiting[2], return_exceptions=True)
            assert len(limiter._started) == 1

    asyncio.run(run())


def test_equal_keys_share_a_limiter() -> None:
    limiters = Limiters(lambda key, remote: _limiter()[0])
    assert limiters.of(LimitKey("e", "d", "c")) is limiters.of(LimitKey("e", "d", "c"))
    assert limiters.of(LimitKey("e", "d", "c")) is not limiters.of(LimitKey("e", "d", "other"))
