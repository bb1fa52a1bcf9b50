"""How often a call is repeated and how long is waited in between, by class of failure."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reflact.config.operation import LimitsConfig
from reflact.models.protocol import CallError, Failure

_SPREAD = 0.1  # of a Retry-After, at most `_MOST_SPREAD_S`, so that all who wait do not return at once
_MOST_SPREAD_S = 2.0
_LEAST_S = 0.02  # between attempts that time alone bounds
_DOUBLINGS = 64


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Attempts and pauses.

    Attributes:
        max_attempts: Attempts of one call; those that are answered with 429 are bounded by time instead, unless this
            is 1.
        no_answer_attempts: Attempts of a call that is met with silence: each costs a whole time limit.
        backoff_s: First pause; it doubles.
        max_backoff_s: Longest pause of our own choosing.
        max_retry_after_s: Longest pause that a server may ask for, and how long 429s are put up with while nothing at
            all gets through: where a server counts by the minute, many calls are told 429 many times.
        hedge_after: Quantile of a phase's latency after which a call is sent a second time; None never does.
    """

    max_attempts: int = 6
    no_answer_attempts: int = 2
    backoff_s: float = 1.0
    max_backoff_s: float = 60.0
    max_retry_after_s: float = 600.0
    hedge_after: float | None = None

    @classmethod
    def of(cls, limits: LimitsConfig) -> RetryPolicy:
        """Read the policy from `limits.*`."""
        return cls(
            max_attempts=limits.max_attempts,
            backoff_s=limits.backoff_s,
            max_backoff_s=limits.max_backoff_s,
            max_retry_after_s=limits.max_retry_after_s,
            hedge_after=limits.hedge_after,
        )

    def attempts(self, failure: Failure) -> int:
        """Attempts that a call may have whose last one failed like this."""
        if not failure.retryable:
            return 1
        return min(self.max_attempts, self.no_answer_attempts) if failure is Failure.NO_ANSWER else self.max_attempts

    def spent(self, failure: Failure, attempt: int, blocked_s: float) -> bool:
        """Whether there is no further attempt.

        Args:
            failure: How the last one failed.
            attempt: Its number, from 1; attempts of the other kind (429s or all else) are not counted.
            blocked_s: Seconds since anything got through.
        """
        if attempt < self.attempts(failure):
            return False
        return failure is not Failure.RATE_LIMIT or self.max_attempts == 1 or blocked_s >= self.max_retry_after_s

    def pause_s(self, error: CallError, attempt: int, rng: Random, blocked_s: float = 0.0) -> float | None:
        """Seconds to wait after attempt number `attempt`; None if there is no further one; see `spent`."""
        if self.spent(error.failure, attempt, blocked_s):
            return None
        asked = error.retry_after_s
        if asked is not None:
            if self.asks_too_much(error):
                return None
            return asked + rng.uniform(0, min(_MOST_SPREAD_S, asked * _SPREAD))
        full = self._doubled_s(attempt)
        if error.failure is Failure.RATE_LIMIT:
            full = max(full, _LEAST_S)
        return rng.uniform(full / 2, full)

    def cool_down_s(self, error: CallError, attempt: int) -> float:
        """Seconds that every call to the same endpoint pauses after this one was told that it is too fast.

        A pause that this call does not wait for is not imposed on the others either: a spent daily quota, or one absurd
        header, would halt every run of the machine, and nobody could tell it from a service that hangs.
        """
        if error.retry_after_s is not None and not self.asks_too_much(error):
            return error.retry_after_s
        return self._doubled_s(attempt) / 2

    def asks_too_much(self, error: CallError) -> bool:
        """Whether the server asks for a longer pause than is waited for."""
        return error.retry_after_s is not None and error.retry_after_s > self.max_retry_after_s

    def _doubled_s(self, attempt: int) -> float:
        return min(self.max_backoff_s, self.backoff_s * 2.0 ** min(attempt - 1, _DOUBLINGS))
