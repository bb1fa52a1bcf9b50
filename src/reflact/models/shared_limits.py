"""Limits of an endpoint that all runs of a machine share; `design/shared-limits.md` says why it works like this.

Everything that touches the shared board happens in a *turn*: one short change under the lock, in which a process enters
what has changed for it (requests that came or ended, tokens not used, a 429), looks who may start, starts its own and
rings for others. Turns come when something changed here, when the bell rings, and now and then while somebody waits.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from math import inf
from random import Random

from reflact.config.operation import LimitsConfig
from reflact.models.limit_board import Board, Member
from reflact.models.limit_rules import (
    enter,
    forget_old,
    next_change,
    refused,
    settle,
    share_out,
    succeeded,
)
from reflact.models.limit_store import MemoryStore, Store

_LOOK_S = 0.25
"""While requests wait, it is looked that often whether others are still there."""

_BUSY_S = 0.001  # the lock is held for about a tenth of this
_CLOSE_TRIES = 50


def boot_clock() -> float:
    """Seconds since the machine's start: one clock for all processes, which nobody sets and no sleep stops."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class _Waiter:
    """A request that wants to start; the future gives the board's time of its start."""

    started: asyncio.Future[float]
    tokens: int


class SharedLimiter:
    """Limits that hold for all processes with the same store; the strictest of what they ask for.

    Args:
        limits: `limits.*`; 0 is no limit.
        open_store: Opens the board when it is first needed.
        warn: Told once if the board cannot be used, so that the limits hold in this process only.
        now: Seconds of a clock that all processes share.
        window_s: Seconds of the window that limits a minute mean.
        rng: Source of the jitter of pauses.
    """

    def __init__(
        self,
        limits: LimitsConfig,
        open_store: Callable[[], Store],
        warn: Callable[[str], None],
        *,
        now: Callable[[], float] = boot_clock,
        window_s: float = 60.0,
        rng: Random | None = None,
    ) -> None:
        self._limits = limits
        self._open_store = open_store
        self._warn = warn
        self._now = now
        self._window_s = window_s
        self._rng = Random() if rng is None else rng
        self._store: Store | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._planned: asyncio.Handle | None = None
        self._listening: tuple[int, int] | None = None
        self._waiting: deque[_Waiter] = deque()
        self._in_flight = 0
        self._unused: list[tuple[float, int]] = []
        self._successes = 0
        self._cool_until = 0.0
        self._refused = False

    @asynccontextmanager
    async def permit(self, tokens: int) -> AsyncIterator[SharedPermit]:
        """See `Limiter.permit`."""
        loop = self._here()
        arrived = loop.time()
        waiter = _Waiter(loop.create_future(), tokens)
        self._waiting.append(waiter)
        self._soon()
        try:
            started = await waiter.started
        except BaseException:  # above all a cancellation, which may come when the leave has just been given
            if waiter.started.done() and not waiter.started.cancelled():
                self._in_flight -= 1
                self._unused.append((waiter.started.result(), tokens))
            self._soon()
            raise
        try:
            yield SharedPermit(loop.time() - arrived, self, started, tokens)
        finally:
            self._in_flight -= 1
            self._soon()

    def cool_down(self, seconds: float) -> None:
        """See `Limiter.cool_down`."""
        self._here()
        self._cool_until = max(self._cool_until, self._now() + seconds)
        self._refused = True
        self._soon()

    def settle(self, started: float, unused: int) -> None:
        """Note that a request was answered and how many of its tokens it did not use."""
        self._successes += 1
        if unused:
            self._unused.append((started, unused))
        self._soon()

    async def aclose(self) -> None:
        """Leave; the files go with the last member."""
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None
        store, self._store = self._store, None
        if store is None:
            return
        if self._listening is not None and self._loop is asyncio.get_running_loop():
            self._loop.remove_reader(self._listening[0])
        self._listening = None
        try:
            await self._leave(store)
        except OSError as error:
            self._warn(f"limits: this run could not sign off: {error}")

    async def _leave(self, store: Store) -> None:
        for _ in range(_CLOSE_TRIES):
            board = store.enter()
            if board is None:
                await asyncio.sleep(_BUSY_S)
                continue
            now = self._now()
            board.members.pop(store.name, None)
            forget_old(board, now, self._window_s)
            useless = not (board.members or board.buckets) and now >= board.cool_until
            if not useless:
                store.leave(board)
            store.close(remove=useless)
            return
        store.close(remove=False)  # the others see that it is gone

    def _here(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._planned, self._listening = loop, None, None
        return loop

    def _soon(self) -> None:
        self._plan(0.0)

    def _plan(self, delay_s: float) -> None:
        assert self._loop is not None
        if self._planned is not None:
            if delay_s == 0.0 and not isinstance(self._planned, asyncio.TimerHandle):
                return
            self._planned.cancel()
        loop = self._loop
        self._planned = loop.call_later(delay_s, self._turn) if delay_s > 0 else loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._planned = None
        try:
            store = self._opened()
            board = store.enter()
            if board is None:
                self._plan(_BUSY_S * self._rng.uniform(0.5, 1.5))
                return
            bells, delay_s = self._changed(store, board)
            for name in bells:
                store.ring(name)
        except OSError as error:
            self._go_alone(error)
            return
        if delay_s < inf:
            self._plan(delay_s)

    def _changed(self, store: Store, board: Board) -> tuple[list[str], float]:
        """Make a change; returns whom to ring and when to look again."""
        kept = None
        try:
            now = self._now()
            self._enter(store, board, now)
            if self._waiting and now - board.swept > _LOOK_S * 0.8:
                self._sweep(store, board, now)
            forget_old(board, now, self._window_s)
            mine, bells = share_out(board, store.name, [one.tokens for one in self._waiting], now, self._window_s)
            self._start(mine, now)
            me = board.members[store.name]
            me.waiting = len(self._waiting)
            me.head = self._waiting[0].tokens if self._waiting else 0
            kept = board
        finally:
            store.leave(kept)
        return bells, self._delay_s(board, now)

    def _enter(self, store: Store, board: Board, now: float) -> None:
        self._waiting = deque(one for one in self._waiting if not one.started.done())
        limits = self._limits
        asks = (limits.max_concurrent_requests, limits.requests_per_minute, limits.tokens_per_minute, limits.adaptive)
        enter(board, store.name, Member(*asks, self._in_flight, len(self._waiting)))
        if limits.adaptive:
            succeeded(board, self._successes)
        if self._refused:
            if limits.adaptive:
                refused(board, now)
            board.cool_until = max(board.cool_until, self._cool_until)
        for started, unused in self._unused:
            settle(board, started, unused, self._window_s)
        self._unused, self._successes, self._refused = [], 0, False

    def _sweep(self, store: Store, board: Board, now: float) -> None:
        board.swept = now
        for name in [name for name in board.members if name != store.name and not store.is_there(name)]:
            del board.members[name]
            store.bury(name)

    def _start(self, number: int, now: float) -> None:
        for _ in range(number):
            self._in_flight += 1
            self._waiting.popleft().started.set_result(now)

    def _delay_s(self, board: Board, now: float) -> float:
        if not self._waiting:
            return inf
        # A little after the moment, so that it is past; at other times for each, so that not all come at once.
        change = next_change(board, now, self._window_s) + 0.001
        return min(change, _LOOK_S * self._rng.uniform(0.8, 1.2))

    def _opened(self) -> Store:
        if self._store is None:
            self._store = self._open_store()
        store, loop = self._store, self._loop
        assert loop is not None
        if store.bell is not None and self._listening != (store.bell, store.opened):
            if self._listening is not None:
                loop.remove_reader(self._listening[0])
            loop.add_reader(store.bell, self._rung)
            self._listening = (store.bell, store.opened)
        return store

    def _rung(self) -> None:
        store = self._store
        if store is not None and store.bell is not None:
            with suppress(BlockingIOError):  # somebody may have emptied it
                os.read(store.bell, 4096)
        self._soon()

    def _go_alone(self, error: OSError) -> None:
        if self._listening is not None and self._loop is not None:
            self._loop.remove_reader(self._listening[0])
        self._listening = None
        if self._store is not None:
            with suppress(OSError):  # it is of no use any more
                self._store.close(remove=False)
        self._store = MemoryStore()
        self._warn(f"limits hold in this process only, other runs do not see them: {error}")
        self._soon()


class SharedPermit:
    """See `Permit`."""

    __slots__ = ("_limiter", "_started", "_tokens", "waited_s")

    def __init__(self, waited_s: float, limiter: SharedLimiter, started: float, tokens: int) -> None:
        self.waited_s = waited_s
        self._limiter = limiter
        self._started = started
        self._tokens = tokens

    def settle(self, tokens: int | None) -> None:
        """See `Permit.settle`."""
        unused = 0 if tokens is None else self._tokens - tokens
        self._tokens -= unused
        self._limiter.settle(self._started, unused)
