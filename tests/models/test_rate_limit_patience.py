"""A server that counts by the minute refuses far more attempts than any call has: none of them may be lost."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random

import pytest

from reflact.config.operation import LimitsConfig
from reflact.core.errors import Stopped
from reflact.core.events import CallRetried, Event
from reflact.core.names import Role, StopCause
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limit_store import MemoryStore
from reflact.models.limits import Limiter, LocalLimiter
from reflact.models.meter import Meter
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, ModelInfo
from reflact.models.shared_limits import SharedLimiter
from reflact.models.work_budget import WorkBudget

from .support import reply, request
from .virtual_time import now, run


class ByTheMinute:
    """Lets `allowed` requests through within any minute and refuses the others at once."""

    supports_prefill = False
    info = ModelInfo("by_the_minute", "m1", "http://h/v1")

    def __init__(self, allowed: int, *, says_when: bool, latency_s: float = 1.0) -> None:
        self._allowed = allowed
        self._says_when = says_when
        self._latency_s = latency_s
        self._started: deque[float] = deque()
        self.refused = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        while self._started and self._started[0] <= now() - 60:
            self._started.popleft()
        if len(self._started) >= self._allowed:
            self.refused += 1
            wait_s = self._started[0] + 60 - now() if self._started else 60.0
            raise CallError(Failure.RATE_LIMIT, "429", status=429, retry_after_s=wait_s if self._says_when else None)
        self._started.append(now())
        await asyncio.sleep(self._latency_s)
        return reply()

    async def aclose(self) -> None:
        pass


def _caller(
    model: ByTheMinute, limits: LimitsConfig, workers: int, emit: Callable[[Event], None] = lambda event: None
) -> tuple[Caller, Limiter]:
    limiter = SharedLimiter(limits, MemoryStore, print, now=now, rng=Random(1))
    caller = Caller(
        model,
        Role.STUDENT,
        limiter=limiter,
        meter=Meter({}),
        policy=RetryPolicy.of(limits),
        emit=emit,
        clock=now,
        rng=Random(0),
        in_flight=workers,
    )
    return caller, limiter


async def _ask_all(caller: Caller, calls: int, workers: int) -> tuple[int, float]:
    numbers, done, began = iter(range(calls)), 0, now()

    async def work() -> None:
        nonlocal done
        for number in numbers:
            budget = WorkBudget(30.0, now)
            await caller.ask(request(str(number)), stage="rollout", phase="train", deadline=budget)
            done += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
    return done, now() - began


@pytest.mark.parametrize("says_when", [True, False])
@pytest.mark.parametrize("limits", [{}, {"requests_per_minute": 30}, {"adaptive": True}])
def test_thirty_a_minute_for_64_workers_loses_nothing(says_when: bool, limits: dict[str, int]) -> None:
    async def main() -> None:
        model = ByTheMinute(30, says_when=says_when)
        caller, _ = _caller(model, LimitsConfig(**limits), 64)  # type: ignore[arg-type]
        done, took_s = await _ask_all(caller, 300, 64)
        assert done == 300
        assert took_s < 9 * 60 * 1.5, "little is lost between two windows"
        assert limits != {"requests_per_minute": 30} or model.refused == 0

    run(main())


def test_where_others_take_most_of_the_minute_a_call_waits_its_turn() -> None:
    """One a minute for 20 calls: the last one is told 429 for 19 minutes, more than any pause may last."""

    async def main() -> None:
        caller, _ = _caller(ByTheMinute(1, says_when=False), LimitsConfig(), 20)
        done, took_s = await _ask_all(caller, 20, 20)
        assert done == 20 and took_s > LimitsConfig().max_retry_after_s

    run(main())


def test_nothing_but_429_ends_after_a_while_in_a_state_to_go_on_from() -> None:
    async def main() -> None:
        model = ByTheMinute(0, says_when=False)
        caller, _ = _caller(model, LimitsConfig(max_retry_after_s=300), 64)
        began = now()
        with pytest.raises(ExceptionGroup) as caught:
            await _ask_all(caller, 100, 64)
        assert all(isinstance(error, Stopped) for error in caught.value.exceptions)
        assert caught.value.exceptions[0].cause is StopCause.RATE_LIMIT  # type: ignore[union-attr]
        assert 90 <= now() - began <= 90 + 65, "a service that never answered is not waited for as long as one that did"
        assert model.refused < 64 + 20, "after the first ones, one call asks for all"

    run(main())


def test_a_single_call_is_given_up_when_nothing_gets_through_for_long() -> None:
    async def main() -> None:
        caller, _ = _caller(ByTheMinute(0, says_when=False), LimitsConfig(max_retry_after_s=120), 1)
        began = now()
        with pytest.raises(CallError) as caught:
            await caller.ask(request(), stage="rollout", phase="train", alone=True)
        assert caught.value.failure is Failure.RATE_LIMIT and 120 <= now() - began < 190

    run(main())


def test_one_attempt_means_one() -> None:
    async def main() -> None:
        model = ByTheMinute(0, says_when=False)
        caller, _ = _caller(model, LimitsConfig(max_attempts=1), 1)
        with pytest.raises(CallError):
            await caller.ask(request(), stage="rollout", phase="train")
        assert model.refused == 1

    run(main())


def test_429s_take_no_attempts_from_other_failures() -> None:
    class Mixed(ByTheMinute):
        async def complete(self, request: ChatRequest) -> ChatReply:
            self.refused += 1
            if self.refused <= 10:
                raise CallError(Failure.RATE_LIMIT, "429", status=429)
            if self.refused <= 15:
                raise CallError(Failure.SERVER, "500", status=500)
            return reply()

    async def main() -> None:
        events: list[Event] = []
        caller, _ = _caller(Mixed(1, says_when=False), LimitsConfig(), 64, events.append)
        assert (await caller.ask(request(), stage="rollout", phase="train")).usage.failed_calls == 15
        pauses = [event.wait_s for event in events if isinstance(event, CallRetried)]
        assert pauses[10] <= 1.0, "the first 500 is answered like a first failure"

    run(main())


def test_a_limiter_in_this_process_gives_unused_tokens_back() -> None:
    async def main() -> None:
        limiter = LocalLimiter(LimitsConfig(tokens_per_minute=100), now)
        began = now()
        for used in (10, None, 10):
            async with limiter.permit(60) as permit:
                permit.settle(used)
        assert now() - began == pytest.approx(60)  # 10 + 60 leave too little for the third

    run(main())
