"""One call, from the wish to the answer: slots, limits, attempts, pauses, deadlines, usage, budget, events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from random import Random
from typing import Protocol

from reflact.core.errors import Unavailable
from reflact.core.events import CallFailed, CallFinished, CallRetried, Emit, Warned
from reflact.core.names import Role
from reflact.core.usage import Usage
from reflact.models.backoff import RetryPolicy
from reflact.models.breaker import Breaker
from reflact.models.estimates import prompt_tokens, with_estimates
from reflact.models.hedge import Latencies, race
from reflact.models.limits import Limiter
from reflact.models.meter import Meter, MeterKey
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure
from reflact.models.unavailable import unavailable
from reflact.models.work_budget import WorkBudget

_SHORTEST_S = 0.001


class Slots(Protocol):
    """See `reflact.models.slots.Slots`."""

    def hold(self, priority: int = 0) -> AbstractAsyncContextManager[None]:
        """Hold a slot; waits for one."""
        ...


@dataclass(slots=True)
class _Call:
    """What a call has met with so far."""

    request: ChatRequest
    key: MeterKey
    budget: WorkBudget | None
    alone: bool = False
    usage: Usage = field(default_factory=Usage)
    wait_s: float = 0.0
    attempt: int = 0
    limited: int = 0
    limited_at: float = 0.0

    def waiting(self) -> AbstractContextManager[None]:
        """Leave the time inside out of the item's working time."""
        return nullcontext() if self.budget is None else self.budget.waiting()

    def bounded(self) -> ChatRequest:
        """The request, with no more time than the item has left."""
        if self.budget is None or self.budget.remaining_s >= self.request.timeout_s:
            return self.request
        return replace(self.request, timeout_s=max(_SHORTEST_S, self.budget.remaining_s))


class Caller:
    """Asks one role's model.

    Args:
        model: Makes single attempts.
        role: Whose model it is.
        limiter: Limits that this model's calls share.
        meter: Books usage and guards the budget.
        policy: Attempts and pauses.
        emit: Where events go.
        clock: Monotonic seconds.
        rng: Source of the jitter of pauses.
        slots: A slot is held during a call; None where the caller's caller holds one.
        in_flight: Calls that may be in flight at once; that many failures may have one passing cause.
        sleep: Waits.
        hide: Removes secrets from replies: a gateway or a tool may show a key to the model, which repeats it.
    """

    def __init__(
        self,
        model: ChatModel,
        role: Role,
        *,
        limiter: Limiter,
        meter: Meter,
        policy: RetryPolicy,
        emit: Emit,
        clock: Callable[[], float],
        rng: Random,
        slots: Slots | None = None,
        in_flight: int = 1,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.model = model
        self.role = role
        self.meter = meter
        self.clock = clock
        self._limiter = limiter
        self._policy = policy
        self._emit = emit
        self._rng = rng
        self._slots = slots
        self._sleep = sleep
        self._hide = hide
        where = f" at {model.info.endpoint}" if model.info.endpoint else ""
        self._breaker = Breaker(f"the {role}'s model {model.info.model}{where}", in_flight, policy, clock, sleep)
        self._latencies = Latencies(policy.hedge_after)
        self._through_at = float("-inf")
        self._estimating = False

    async def ask(
        self,
        request: ChatRequest,
        *,
        stage: str,
        phase: str,
        deadline: WorkBudget | None = None,
        priority: int = 0,
        alone: bool = False,
    ) -> ChatReply:
        """Get an answer.

        Args:
            request: `timeout_s` bounds each attempt.
            stage: Stage that pays (`Stage`).
            phase: What it is for (`Phase`).
            deadline: Working time left to the item: waiting does not count, attempts do.
            priority: Of the slot, if there are slots.
            alone: The same request failed before, so another failure says nothing about the service.

        Returns:
            The reply; its usage includes the attempts that failed before.

        Raises:
            CallError: No answer after all attempts, for the caller to interpret; its usage is the call's.
            Unavailable: Every other call would fail in the same way.
            Stopped: The budget is spent.
        """
        key = MeterKey(self.role.value, self.model.info.model, str(stage), str(phase))
        call = _Call(request, key, deadline, alone)
        async with nullcontext() if self._slots is None else self._slots.hold(priority):
            started = self.clock()
            while True:
                self._require_time(call)
                try:
                    reply = await self._attempt(call)
                except CallError as error:
                    failed = error
                else:
                    return self._finish(call, reply, self.clock() - started - call.wait_s)
                await self._after(call, failed)

    async def aclose(self) -> None:
        """Release the model."""
        await self.model.aclose()

    async def _attempt(self, call: _Call) -> ChatReply:
        self.meter.check()
        probe = await self._admitted(call)
        try:
            async with AsyncExitStack() as stack:
                with call.waiting():
                    permit = await stack.enter_async_context(self._limiter.permit(_tokens_asked(call.request)))
                call.wait_s += permit.waited_s
                self.meter.check()  # others may have spent the rest meanwhile
                call.attempt += 1
                reply = await self._send(call, call.bounded())
                permit.settle(_tokens_used(reply))
        except CallError as error:
            if not error.failure.retryable:
                self._through_at = self.clock()
                self._breaker.answered(probe)
            elif not call.alone:
                self._breaker.failed(error, probe, call.attempt == 1)
            raise
        except BaseException:  # cancelled, or the budget is spent: nothing is known of the service
            self._breaker.abandoned(probe)
            raise
        self._through_at = self.clock()
        self._breaker.answered(probe)
        return reply

    async def _admitted(self, call: _Call) -> bool:
        """Wait while others find out whether the service is there; returns whether this attempt is to find out."""
        if call.alone:
            return False
        began = self.clock()
        with call.waiting():
            probe = await self._breaker.admit()
        call.wait_s += self.clock() - began
        return probe

    async def _send(self, call: _Call, request: ChatRequest) -> ChatReply:
        key = (call.key.stage, call.key.phase)
        started = self.clock()
        slow_after = self._latencies.threshold(key)
        if slow_after is None or self.meter.fraction_used() >= 1:
            reply = await self.model.complete(request)
        else:
            reply = await self._hedged(call, request, slow_after)
        self._latencies.add(key, self.clock() - started)
        return self._counted(request, reply)

    def _counted(self, request: ChatRequest, reply: ChatReply) -> ChatReply:
        """Return the reply with every count; the first time that the server left one out is told."""
        counted = with_estimates(request, reply)
        if counted is not reply and not self._estimating:
            self._estimating = True
            info = self.model.info
            where = f" at {info.endpoint}" if info.endpoint else ""
            message = (
                f"{self.role}: {info.model}{where} does not count all tokens of a reply: they are estimated from the "
                "texts, and so is what budget.max_tokens allows"
            )
            self._emit(Warned("usage_estimated", message))
        return counted

    async def _hedged(self, call: _Call, request: ChatRequest, after_s: float) -> ChatReply:
        async def again() -> ChatReply:
            async with self._limiter.permit(_tokens_asked(request)) as permit:
                reply = await self.model.complete(request)
                permit.settle(_tokens_used(reply))
                return reply

        result = await race(lambda: self.model.complete(request), again, after_s)
        call.usage += result.other
        if result.hedged:
            self._emit(self._retried(call, "hedge", 0.0, message=f"slower than {after_s:.3g} s: sent a second time"))
        return result.reply

    async def _after(self, call: _Call, error: CallError) -> None:
        """Wait for the next attempt, or raise what the call ends with."""
        call.usage += error.usage + Usage(failed_calls=1)
        if error.failure is Failure.RATE_LIMIT:
            self.meter.record_429()
            call.limited += 1
            if call.limited == 1:
                call.limited_at = self.clock()
            self._limiter.cool_down(self._policy.cool_down_s(error, call.limited))
        if self._policy.asks_too_much(error):
            bound = self._policy.max_retry_after_s
            asked = f"it asks for a pause of {error.retry_after_s:.10g} s, beyond limits.max_retry_after_s={bound:g}"
            error.args = (f"{error} ({asked})",)
        pause = self._pause_s(call, error)
        if pause is None or (call.budget is not None and call.budget.remaining_s <= 0):
            raise self._failed(call, error)
        self._emit(
            self._retried(call, error.cause, pause, str(error), status=error.status, retry_after_s=error.retry_after_s)
        )
        with call.waiting():
            await self._sleep(pause)
        call.wait_s += pause

    def _pause_s(self, call: _Call, error: CallError) -> float | None:
        """Seconds until the next attempt. 429s count by themselves: who met with many has no fewer attempts left."""
        if error.failure is not Failure.RATE_LIMIT:
            return self._policy.pause_s(error, call.attempt - call.limited, self._rng)
        # As long as others get through, this call's turn comes.
        blocked_s = self.clock() - max(call.limited_at, self._through_at)
        return self._policy.pause_s(error, call.limited, self._rng, blocked_s)

    def _require_time(self, call: _Call) -> None:
        if call.budget is not None and call.budget.remaining_s <= 0:
            message = f"the item's {call.budget.seconds:g} s were used up before the call"
            raise self._failed(call, CallError(Failure.NO_ANSWER, message))

    def _finish(self, call: _Call, reply: ChatReply, latency_s: float) -> ChatReply:
        usage = replace(reply.usage, calls=1) + call.usage
        cost = self.meter.record(call.key, usage, wait_s=call.wait_s)
        for note in reply.notes:
            self._emit(Warned("server_trait", f"{self.role}: {note}"))
        self._emit(
            CallFinished(
                role=call.key.role,
                stage=call.key.stage,
                phase=call.key.phase,
                model=call.key.model,
                usage=usage,
                latency_s=round(latency_s, 4),
                wait_s=round(call.wait_s, 4),
                cost_usd=cost,
            )
        )
        return replace(reply, text=self._hide(reply.text), usage=usage, notes=())

    def _failed(self, call: _Call, error: CallError) -> CallError | Unavailable:
        self.meter.record(call.key, call.usage, wait_s=call.wait_s)
        self._emit(
            CallFailed(
                role=call.key.role,
                stage=call.key.stage,
                phase=call.key.phase,
                model=call.key.model,
                usage=call.usage,
                cause=error.cause,
                message=str(error),
                wait_s=round(call.wait_s, 4),
            )
        )
        error.usage = call.usage
        return unavailable(self.role, self.model.info, error) if error.failure.fatal else error

    def _retried(
        self,
        call: _Call,
        cause: str,
        wait_s: float,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> CallRetried:
        return CallRetried(
            role=call.key.role,
            stage=call.key.stage,
            phase=call.key.phase,
            cause=cause,
            status=status,
            attempt=call.attempt,
            max_attempts=self._policy.max_attempts,
            wait_s=round(wait_s, 4),
            retry_after_s=retry_after_s,
            message=message,
        )


def _tokens_asked(request: ChatRequest) -> int:
    return prompt_tokens(request) + request.max_completion_tokens


def _tokens_used(reply: ChatReply) -> int | None:
    return reply.usage.tokens if reply.usage.tokens else None
