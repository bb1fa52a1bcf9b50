"""Notices that a service answers nobody, so that a run stops after a few calls and not after the whole split.

As long as anything is answered, every call goes on by itself. After a streak of failures without a single answer in
between, calls go one at a time: the one that goes first asks for all the others, which wait (waiting is not counted
against an item's time). An answer lets everybody go on; if none comes, the run stops and can be resumed.

A service may also fail for some requests only, and at the end of a phase just those are left. Therefore, once anything
was answered, only the *first* attempts of calls count: a streak of those means that fresh requests fail too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from reflact.core.errors import Stopped
from reflact.core.names import StopCause
from reflact.models.backoff import RetryPolicy
from reflact.models.protocol import CallError, Failure

_FEWEST = 12
_FEWEST_AT_FIRST = 4
_PATIENCE_AT_FIRST_S = 90.0
"""How long a service that has never answered this process may say 429: a minute's window is over by then."""


class Breaker:
    """One for each role's model.

    Args:
        who: Named in the message (`the student's model gpt-5.5 at https://...`).
        slots: Calls that may be in flight; that many failures may come from one hiccup.
        policy: Attempts and pauses.
        clock: Monotonic seconds.
        sleep: Waits.
    """

    def __init__(
        self,
        who: str,
        slots: int,
        policy: RetryPolicy,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._who = who
        self._slots = slots
        self._policy = policy
        self._clock = clock
        self._sleep = sleep
        self._streak = 0
        self._alive = False
        self._opened_at: float | None = None
        self._probes = 0
        self._probing = False
        self._next_at = 0.0
        self._changed = asyncio.Event()
        self._stop: Stopped | None = None

    async def admit(self) -> bool:
        """Wait for leave to make an attempt; returns whether it is made for all the others.

        Raises:
            Stopped: The service answers nobody.
        """
        while True:
            if self._stop is not None:
                raise Stopped(self._stop.cause, str(self._stop))
            if self._opened_at is None:
                return False
            if not self._probing:
                return await self._begin_probe()
            self._changed.clear()
            await self._changed.wait()

    async def _begin_probe(self) -> bool:
        self._probing = True
        try:
            await self._sleep(max(0.0, self._next_at - self._clock()))
        except BaseException:  # above all a cancellation: somebody else must ask now
            self.abandoned(True)
            raise
        return True

    def abandoned(self, probe: bool) -> None:
        """The attempt ended without telling anything (it was cancelled)."""
        if probe:
            self._probing = False
            self._changed.set()

    def answered(self, probe: bool) -> None:
        """The service said something about this call: it is alive."""
        self._alive = True
        self._streak, self._probes, self._opened_at = 0, 0, None
        self.abandoned(probe)
        self._changed.set()

    def failed(self, error: CallError, probe: bool, first: bool) -> None:
        """An attempt met with silence or refusal that has nothing to do with the call itself.

        Args:
            error: What was said, if anything.
            probe: The attempt was made for all the others.
            first: It was its call's first attempt.
        """
        if first or probe or not self._alive:
            self._streak += 1
        now = self._clock()
        if probe:
            self._probes += 1
            self._next_at = now + self._pause_s(error)
            self._give_up(error, now)
        elif self._opened_at is None and self._streak >= max(_FEWEST if self._alive else _FEWEST_AT_FIRST, self._slots):
            self._opened_at, self._probes = now, 0
            self._next_at = now + self._pause_s(error)
            if self._policy.asks_too_much(error):  # the service said itself that asking again is of no use
                self._give_up(error, now)
        self.abandoned(probe)

    def _pause_s(self, error: CallError) -> float:
        if error.retry_after_s is not None:
            return min(error.retry_after_s, self._policy.max_retry_after_s)
        return float(min(self._policy.max_backoff_s, self._policy.backoff_s * 2.0**self._probes))

    def _give_up(self, error: CallError, now: float) -> None:
        assert self._opened_at is not None or self._probes >= 1
        since = now - (self._opened_at if self._opened_at is not None else now)
        limited = error.failure is Failure.RATE_LIMIT
        hopeless = limited and not self._alive and since >= _PATIENCE_AT_FIRST_S
        hopeless = hopeless or self._policy.asks_too_much(error)
        if not (hopeless or self._policy.spent(error.failure, self._probes, since)):
            return
        advice = (
            "Lower env.workers, set limits.requests_per_minute, or wait" if limited else "Check the service"
        ) + ", then go on with run.resume=true"
        self._stop = Stopped(
            StopCause.RATE_LIMIT if limited else StopCause.ERRORS,
            f"{self._who} has answered none of the last {self._streak} attempts (last: {error.cause}: {error}). "
            f"{advice}",
        )
