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


class Permit(Protocol):
    """Leave to send one request.

    Attributes:
        waited_s: Seconds that were waited for it.
    """

    waited_s: float

    def settle(self, tokens: int | None) -> None:
        """Say that the request was answered and what it used, so that tokens reserved in vain are given back.

        Args:
            tokens: Tokens read and written; None if the server does not say, then the reservation stands.
        """
        ...


class Limiter(Protocol):
    """Lets calls through in order of arrival."""

    def permit(self, tokens: int) -> AbstractAsyncContextManager[Permit]:
        """Wait for leave to send one request and hold it meanwhile.

        Args:
            tokens: Tokens that the request asks for: its prompt, estimated, and its cap.
        """
        ...

    def cool_down(self, seconds: float) -> None:
        """Let no further request start for that long: a request was answered with 429."""
        ...

    async def aclose(self) -> None:
        """Release what the limiter holds; no request is in flight or will come."""
        ...


class LocalPermit:
    """See `Permit`."""

    __slots__ = ("_limiter", "_start", "waited_s")

    def __init__(self, waited_s: float, limiter: LocalLimiter, start: list[float] | None) -> None:
        self.waited_s = waited_s
        self._limiter = limiter
        self._start = start

    def settle(self, tokens: int | None) -> None:
        """See `Permit.settle`."""
        if self._start is not None and tokens is not None:
            self._limiter.settle(self._start, tokens)


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
        self._started: deque[list[float]] = deque()  # when, and how many tokens
        self._tokens_started = 0.0
        self._cool_until = float("-inf")

    @asynccontextmanager
    async def permit(self, tokens: int) -> AsyncIterator[LocalPermit]:
        """See `Limiter.permit`."""
        arrived = self._clock()
        async with self._line:
            if self._in_flight is not None:
                await self._in_flight.acquire()
            try:
                start = await self._turn(tokens)
            except BaseException:  # above all a cancellation
                self._release()
                raise
        try:
            yield LocalPermit(self._clock() - arrived, self, start)
        finally:
            self._release()

    def cool_down(self, seconds: float) -> None:
        """See `Limiter.cool_down`."""
        self._cool_until = max(self._cool_until, self._clock() + seconds)

    def settle(self, start: list[float], tokens: int) -> None:
        """Correct the tokens of a start that is still in the window."""
        if self._started and self._started[0][0] <= start[0]:
            self._tokens_started += tokens - start[1]
            start[1] = tokens

    async def aclose(self) -> None:
        """See `Limiter.aclose`."""

    def _release(self) -> None:
        if self._in_flight is not None:
            self._in_flight.release()

    async def _turn(self, tokens: int) -> list[float] | None:
        while (wait := self._wait_s(tokens)) > 0:
            await self._sleep(wait)  # the cool-down may grow meanwhile, so look again
        if not (self._requests or self._tokens):
            return None
        self._started.append([self._clock(), tokens])
        self._tokens_started += tokens
        return self._started[-1]

    def _wait_s(self, tokens: int) -> float:
        now = self._clock()
        wait = self._cool_until - now
        if not (self._requests or self._tokens):
            return wait
        while self._started and self._started[0][0] <= now - _WINDOW_S:
            self._tokens_started -= self._started.popleft()[1]
        too_many = bool(self._requests) and len(self._started) >= self._requests
        # A request above the whole limit could never start; it goes alone instead.
        too_much = bool(self._tokens) and self._tokens_started > 0 and self._tokens_started + tokens > self._tokens
        if too_many or too_much:
            wait = max(wait, self._started[0][0] + _WINDOW_S - now)
        return wait


class Limiters:
    """One limiter a key.

    Args:
        make: Makes the limiter of a new key; told whether other processes reach the same service.
    """

    def __init__(self, make: Callable[[LimitKey, bool], Limiter]) -> None:
        self._make = make
        self._limiters: dict[LimitKey, Limiter] = {}

    def of(self, key: LimitKey, *, remote: bool = False) -> Limiter:
        """Return the limiter that everything with this key shares.

        Args:
            key: What shares limits.
            remote: The model is a service that other processes reach too, not one inside this process.
        """
        if key not in self._limiters:
            self._limiters[key] = self._make(key, remote)
        return self._limiters[key]

    async def aclose(self) -> None:
        """Release all limiters."""
        for limiter in self._limiters.values():
            await limiter.aclose()
