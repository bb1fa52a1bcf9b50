from __future__ import annotations

import asyncio

import pytest

from reflact.models.work_budget import WorkBudget

from .support import FakeTime


def test_waiting_is_left_out_also_nested_and_at_once() -> None:
    time = FakeTime()
    budget = WorkBudget(10.0, time)
    time.pass_(2.0)
    with budget.waiting():
        time.pass_(100.0)
        with budget.waiting():
            time.pass_(50.0)
            assert budget.remaining_s == pytest.approx(8.0)
        time.pass_(5.0)
    time.pass_(1.0)
    assert (budget.worked_s, budget.waited_s, budget.remaining_s) == pytest.approx((3.0, 155.0, 7.0))
    time.pass_(100.0)
    assert budget.remaining_s == 0.0


def test_what_runs_inside_is_ended_when_the_time_is_spent() -> None:
    async def run() -> bool:
        budget = WorkBudget(0.02, asyncio.get_running_loop().time)
        with pytest.raises(TimeoutError):
            async with budget.enforced() as scope:
                await asyncio.sleep(30)
        return scope.expired()

    assert asyncio.run(run())


def test_a_wait_is_not_ended() -> None:
    async def run() -> None:
        budget = WorkBudget(0.02, asyncio.get_running_loop().time)
        async with budget.enforced() as scope:
            with budget.waiting():
                await asyncio.sleep(0.7)
        assert not scope.expired()

    asyncio.run(run())
