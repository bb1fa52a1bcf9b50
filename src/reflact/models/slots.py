"""Slots: how many items or calls are in flight, and who comes first.

Foreground work is served by priority, then in order of arrival. Background work (priority `BACKGROUND`) takes
only slots that nobody else wants *now or soon*: a background item that starts just before a foreground phase
delays that phase by up to an item's length, so it starts only if it is expected to end in time.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from statistics import median

BACKGROUND = 10
_MEMORY = 256  # holds whose length is remembered


class Slots:
    """A pool of slots with priorities.

    Args:
        size: Number of slots.
        clock: Monotonic seconds.
    """

    def __init__(self, size: int, clock: Callable[[], float]) -> None:
        self.size = size
        self._clock = clock
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._foreground: dict[int, float] = {}
        self._background: dict[int, float] = {}
        self._lengths: deque[float] = deque(maxlen=_MEMORY)
        self._demand_at = 0.0
        self._demand_after = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> int:
        """Slots held now."""
        return len(self._foreground) + len(self._background)

    @property
    def typical_s(self) -> float | None:
        """Median length of the latest holds in seconds; None before the first ended."""
        return median(self._lengths) if self._lengths else None

    def expect(self, *, at: float = 0.0, after: float = 0.0) -> None:
        """Say when foreground work will want the slots next.

        Args:
            at: Not before this time (of the clock).
            after: Not before that many seconds after the foreground work in flight has ended.
        """
        self._demand_at, self._demand_after = at, after
        self._dispatch()

    @asynccontextmanager
    async def hold(self, priority: int = 0) -> AsyncIterator[None]:
        """Hold a slot; waits for one."""
        ticket = next(self._order)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (priority, ticket, future))
        self._dispatch()
        try:
            await future
            yield
        finally:
            self._leave(priority, ticket, future)

    def _leave(self, priority: int, ticket: int, future: asyncio.Future[None]) -> None:
        holders = self._background if priority >= BACKGROUND else self._foreground
        started = holders.pop(ticket, None)
        if started is None:
            future.cancel()  # left while waiting; its entry is dropped when it is met
        else:
            self._lengths.append(self._clock() - started)
        # Not at once: who leaves a slot and comes straight back must be in line before the slot is given away,
        # or work of lower priority would slip in at every change.
        asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self) -> None:
        while self._waiting and self.busy < self.size:
            priority, ticket, future = self._waiting[0]
            if future.done():
                heapq.heappop(self._waiting)
                continue
            background = priority >= BACKGROUND
            if background and not self._fits():
                self._look_again()
                return
            heapq.heappop(self._waiting)
            (self._background if background else self._foreground)[ticket] = self._clock()
            future.set_result(None)

    def _fits(self) -> bool:
        """Whether a background item started now would probably end before the slots are wanted."""
        typical = self.typical_s
        if typical is None:
            return False
        now = self._clock()
        drained = now
        for started in self._foreground.values():
            age = now - started
            # An item older than usual is expected to take as long again as it has taken so far.
            drained = max(drained, now + (typical - age if age < typical else age))
        return now + typical <= max(self._demand_at, drained + self._demand_after)

    def _look_again(self) -> None:
        if self._timer is not None:
            return
        delay = max(0.01, (self.typical_s or 1.0) / 4)
        self._timer = asyncio.get_running_loop().call_later(delay, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._dispatch()
