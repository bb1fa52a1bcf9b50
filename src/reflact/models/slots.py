"""Slots: how many items or calls are in flight, and who comes first.

Foreground work is served by priority, then in order of arrival. Background work (priority `BACKGROUND`) takes
only slots that nobody else wants *now or soon*: a background item that starts just before a foreground phase
delays that phase by up to an item's length, so it starts only if it is expected to end in time. The two mistakes are
not alike: an item that could have run and did not costs its length divided by the slots, one that is in the way costs
a whole phase what is left of it. So foreground items are assumed to take the median, background ones nearly the most.
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
_NEARLY_ALL = 0.95  # share of the remembered holds that were not longer than `long_s`
_STRAGGLER = 1.5  # of `long_s`: in every phase some item is a little older than nearly all


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
        self._timer: asyncio.Handle | None = None

    @property
    def busy(self) -> int:
        """Slots held now."""
        return len(self._foreground) + len(self._background)

    @property
    def typical_s(self) -> float | None:
        """Median length of the latest holds in seconds; None before the first ended."""
        return median(self._lengths) if self._lengths else None

    @property
    def long_s(self) -> float | None:
        """What nearly all of the latest holds did not exceed, in seconds; None before the first ended."""
        lengths = sorted(self._lengths)
        return lengths[min(len(lengths) - 1, int(_NEARLY_ALL * len(lengths)))] if lengths else None

    def expect(self, *, at: float = 0.0, after: float = 0.0) -> None:
        """Say when foreground work will want the slots next.

        Args:
            at: Not before this time (of the clock).
            after: Not before that many seconds after the foreground work that is in flight, or about to be, has
                ended.
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
            if not future.done():
                if priority >= BACKGROUND:
                    # Whoever gave a slot back often wants it again at once, and a phase's items come one by one: what
                    # is left when all of them have spoken is idle.
                    self._look(0.0)
                    return
                self._foreground[ticket] = self._clock()
                future.set_result(None)
            heapq.heappop(self._waiting)

    def _fill(self) -> None:
        """Give idle slots to background work."""
        self._timer = None
        while self._waiting and self.busy < self.size and self._waiting[0][0] >= BACKGROUND:
            _, ticket, future = self._waiting[0]
            if not future.done():
                if not self._fits():
                    self._look(max(0.01, (self.typical_s or 1.0) / 4))
                    return
                self._background[ticket] = self._clock()
                future.set_result(None)
            heapq.heappop(self._waiting)

    def _fits(self) -> bool:
        """Whether a background item started now would almost certainly end before the slots are wanted."""
        typical, long = self.typical_s, self.long_s
        if typical is None or long is None:
            return False
        now = self._clock()
        if not self._foreground and self._demand_after:
            return now + long <= self._demand_at  # what the demand comes after has not begun
        drained = now
        for started in self._foreground.values():
            age = now - started
            # Past the median it may end at any moment; far older than nearly all, it is a straggler and expected to
            # take as long again as it has taken so far.
            drained = max(drained, now + (age if age >= _STRAGGLER * long else max(0.0, typical - age)))
        return now + long <= max(self._demand_at, drained + self._demand_after)

    def _look(self, delay_s: float) -> None:
        """See to background work, at once (after what is ready to run now) or later."""
        if self._timer is not None:
            if isinstance(self._timer, asyncio.TimerHandle) and not delay_s:
                self._timer.cancel()
            else:
                return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(delay_s, self._fill) if delay_s else loop.call_soon(self._fill)
