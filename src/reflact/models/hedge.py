"""Sending a slow call a second time: the first answer counts, both are paid."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from reflact.core.usage import Usage
from reflact.models.protocol import CallError, ChatReply

_FEWEST = 20  # latencies, before a quantile says anything
_Attempt = Callable[[], Coroutine[Any, Any, ChatReply]]


class Latencies:
    """Latencies of answered calls, by stage and phase.

    Args:
        quantile: In [0.5, 1]; None keeps nothing.
    """

    def __init__(self, quantile: float | None) -> None:
        self._quantile = quantile
        self._seen: dict[tuple[str, str], list[float]] = {}

    def add(self, key: tuple[str, str], seconds: float) -> None:
        """Remember the latency of an answer."""
        if self._quantile is not None:
            insort(self._seen.setdefault(key, []), seconds)

    def threshold(self, key: tuple[str, str]) -> float | None:
        """Seconds after which a call counts as slow; None while that is not known."""
        seen = self._seen.get(key, ())
        if self._quantile is None or len(seen) < _FEWEST:
            return None
        return seen[min(len(seen) - 1, int(self._quantile * len(seen)))]


@dataclass(frozen=True, slots=True)
class RaceResult:
    """The first answer and the usage of the attempt beside it."""

    reply: ChatReply
    other: Usage
    hedged: bool


async def race(first: _Attempt, second: _Attempt, after_s: float) -> RaceResult:
    """Run `first`, and `second` beside it once `after_s` seconds have passed.

    Raises:
        CallError: Nobody answered: the error of `first`, or of `second` where that came last.
    """
    running = {asyncio.create_task(first())}
    hedged = False
    failed = 0
    try:
        done, _ = await asyncio.wait(running, timeout=after_s)
        if not done:
            running.add(asyncio.create_task(second()))
            hedged = True
        while True:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            winner = next((task for task in done if task.exception() is None), None)
            if winner is not None:
                return _result(winner.result(), failed + len(done) - 1, len(running), hedged)
            failed += len(done)
            if not running:
                raise _last(done, failed)
    finally:
        await _cancel(running)


def _result(reply: ChatReply, failed: int, cancelled: int, hedged: bool) -> RaceResult:
    # The cancelled attempt had the same prompt; what it had written is not known.
    other = Usage(
        failed_calls=failed + cancelled,
        prompt_tokens=reply.usage.prompt_tokens * cancelled,
        cached_tokens=reply.usage.cached_tokens * cancelled,
    )
    return RaceResult(reply, other, hedged)


def _last(done: set[asyncio.Task[ChatReply]], failed: int) -> BaseException:
    errors = [error for task in done if (error := task.exception()) is not None]
    error = next((error for error in errors if not isinstance(error, CallError)), errors[0])
    if isinstance(error, CallError):
        error.usage += Usage(failed_calls=failed - 1)
    return error


async def _cancel(tasks: set[asyncio.Task[ChatReply]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.exception()  # looked at, so that the loop does not complain
