"""Limits of an endpoint that all calls to it share: requests in flight, requests and tokens a minute, cool-downs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from reflact.config.operation import LimitsConfig

_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class LimitKey:
    """What shares limits: calls to one deployment with one credential (its fingerprint, never itself)."""

    endpoint: str
    deployment: str
    credential: str = ""


class Limiter(Protocol):
    """Lets calls through in order of arrival."""

    def permit(self, tokens: int) -> AbstractAsyncContextManager[float]:
        """Wait for leave to send one request and hold it meanwhile; gives the seconds waited.

        Args:
            tokens: Tokens that the request asks for: its prompt, estimated, and its cap.
        """
        ...

    def cool_down(self, seconds: float) -> None:
        """Let no further request start for that long."""
        ...


class LocalLimiter:
    """Limits within this process and event loop.

    Args:
        limits: `limits.*`; 0 is no limit.
        clock: Monotonic seconds.
        sleep: Waits.
    """

    def __init__(
        self,
        limits: LimitsConfig,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._requests = limits.requests_per_minute
        self._tokens = limits.tokens_per_minute
        self._in_flight = asyncio.Semaphore(limits.max_concurrent_requests) if limits.max_concurrent_requests else None
        # Whoever is first in line waits inside; the lock serves the others in order of arrival.
        self._line = asyncio.Lock()
        self._started: deque[tuple[float, int]] = deque()
        self._tokens_started = 0
        self._cool_until = float("-inf")

    @asynccontextmanager
    async def permit(self, tokens: int) -> AsyncIterator[float]:
        """See `Limiter.permit`."""
        arrived = self._clock()
        async with self._line:
            if self._in_flight is not None:
                await self._in_flight.acquire()
            try:
                await self._turn(tokens)
            except BaseException:  # above all a cancellation
                self._release()
                raise
        try:
            yield self._clock() - arrived
        finally:
            self._release()

    def cool_down(self, seconds: float) -> None:
        """See `Limiter.cool_down`."""
        self._cool_until = max(self._cool_until, self._clock() + seconds)

    def _release(self) -> None:
        if self._in_flight is not None:
            self._in_flight.release()

    async def _turn(self, tokens: int) -> None:
        while (wait := self._wait_s(tokens)) > 0:
            await self._sleep(wait)  # the cool-down may grow meanwhile, so look again
        if self._requests or self._tokens:
            self._started.append((self._clock(), tokens))
            self._tokens_started += tokens

    def _wait_s(self, tokens: int) -> float:
        now = self._clock()
        wait = self._cool_until - now
        if not (self._requests or self._tokens):
            return wait
        while self._started and self._started[0][0] <= now - _WINDOW_S:
            self._tokens_started -= self._started.popleft()[1]
        too_many = bool(self._requests) and len(self._started) >= self._requests
        # A request above the whole limit could never start; it goes alone instead.
        too_much = bool(self._tokens) and bool(self._started) and self._tokens_started + tokens > self._tokens
        if too_many or too_much:
            wait = max(wait, self._started[0][0] + _WINDOW_S - now)
        return wait


class Limiters:
    """One limiter a key.

    Args:
        make: Makes the limiter of a new key.
    """

    def __init__(self, make: Callable[[LimitKey], Limiter]) -> None:
        self._make = make
        self._limiters: dict[LimitKey, Limiter] = {}

    def of(self, key: LimitKey) -> Limiter:
        """Return the limiter that everything with this key shares."""
        if key not in self._limiters:
            self._limiters[key] = self._make(key)
        return self._limiters[key]
