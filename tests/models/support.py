"""Doubles that the tests of this package share: a clock that jumps, a model that follows a list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from reflact.config.operation import BudgetConfig, LimitsConfig
from reflact.config.schema import Config
from reflact.core.events import Event
from reflact.core.names import Role
from reflact.core.usage import Usage
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limits import LocalLimiter
from reflact.models.meter import Meter
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, Message, ModelInfo

USAGE = Usage(calls=1, prompt_tokens=10, completion_tokens=5)


class FakeTime:
    """A monotonic clock that only `sleep` and `pass_` move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


Step = ChatReply | BaseException | Callable[[ChatRequest], ChatReply]


class ListedModel:
    """Answers with the steps of a list; the last one repeats."""

    supports_prefill = False

    def __init__(self, steps: Sequence[Any], info: ModelInfo | None = None) -> None:
        self.steps = list(steps)
        self.requests: list[ChatRequest] = []
        self.info = info or ModelInfo("listed", "m1", "http://h/v1")
        self.closed = False

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        if callable(step) and not isinstance(step, BaseException):
            step = step(request)
        if asyncio.iscoroutine(step):
            step = await step
        if isinstance(step, BaseException):
            raise step
        return step

    async def aclose(self) -> None:
        self.closed = True


async def until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110 - nothing here could set an event
        await asyncio.sleep(0)


def reply(text: str = "fine", usage: Usage = USAGE, finish: str = "stop", **more: Any) -> ChatReply:
    return ChatReply(text, finish, usage, "m1", **more)


def error(failure: Failure, **more: Any) -> CallError:
    return CallError(failure, f"it was {failure}", **more)


def request(text: str = "hello", *, timeout_s: float = 30.0, **more: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_completion_tokens=100, timeout_s=timeout_s, **more)


class Bench:
    """A caller with everything around it in sight."""

    def __init__(
        self,
        steps: Sequence[Any],
        *,
        limits: LimitsConfig | None = None,
        budget: BudgetConfig | None = None,
        config: Config | None = None,
        **more: Any,
    ) -> None:
        limits = LimitsConfig() if limits is None else limits
        self.time = FakeTime()
        self.model = ListedModel(steps) if isinstance(steps, list) else steps
        self.events: list[Event] = []
        self.meter = Meter({}, budget) if config is None else Meter.of(config)
        self.limiter = LocalLimiter(limits, self.time, self.time.sleep)
        self.caller = Caller(
            self.model,
            Role.STUDENT,
            limiter=self.limiter,
            meter=self.meter,
            policy=RetryPolicy.of(limits),
            emit=self.events.append,
            clock=self.time,
            rng=Random(0),
            sleep=self.time.sleep,
            **more,
        )

    def of_kind(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.kind == kind]

    async def ask(self, **more: Any) -> ChatReply:
        return await self.caller.ask(more.pop("request", request()), stage="rollout", phase="train", **more)
