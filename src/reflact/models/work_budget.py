"""The working time of an item: what it may take, waiting for others left out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

# Model calls end themselves at the budget and say why; the outer guard, for everything else, comes later.
_GRACE_S = 0.5


class WorkBudget:
    """Counts working time from its creation.

    Args:
        seconds: Working seconds allowed.
        clock: Monotonic seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self._clock = clock
        self._started = clock()
        self._waited = 0.0
        self._waiters = 0
        self._waiting_since = 0.0
        self._guard: asyncio.Timeout | None = None

    @property
    def waited_s(self) -> float:
        """Seconds spent waiting so far."""
        return self._waited + (self._clock() - self._waiting_since if self._waiters else 0.0)

    @property
    def worked_s(self) -> float:
        """Seconds of work so far."""
        return max(0.0, self._clock() - self._started - self.waited_s)

    @property
    def remaining_s(self) -> float:
        """Seconds of work left, never negative."""
        return max(0.0, self.seconds - self.worked_s)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Leave the time inside out of the count; may be nested and entered by several tasks at once."""
        if not self._waiters:
            self._waiting_since = self._clock()
        self._waiters += 1
        self._reschedule()
        try:
            yield
        finally:
            self._waiters -= 1
            if not self._waiters:
                self._waited += self._clock() - self._waiting_since
            self._reschedule()

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[asyncio.Timeout]:
        """End what runs inside when the budget is spent.

        Raises:
            TimeoutError: It was spent; the yielded scope's `expired()` then holds.
        """
        async with asyncio.timeout(None) as scope:
            self._guard = scope
            self._reschedule()
            try:
                yield scope
            finally:
                self._guard = None

    def _reschedule(self) -> None:
        guard = self._guard
        if guard is None or guard.expired():
            return
        # Nothing ends an item that only waits; a wait has its own bounds.
        when = None if self._waiters else asyncio.get_running_loop().time() + self.remaining_s + _GRACE_S
        guard.reschedule(when)
