"""How often a call is repeated and how long is waited in between, by class of failure."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reflact.config.operation import LimitsConfig
from reflact.models.protocol import CallError, Failure

_SPREAD = 0.1  # of a Retry-After, at most `_MOST_SPREAD_S`, so that all who wait do not return at once
_MOST_SPREAD_S = 2.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Attempts and pauses.

    Attributes:
        max_attempts: Attempts of one call.
        no_answer_attempts: Attempts of a call that is met with silence: each costs a whole time limit.
        backoff_s: First pause; it doubles.
        max_backoff_s: Longest pause of our own choosing.
        max_retry_after_s: Longest pause that a server may ask for.
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

    def pause_s(self, error: CallError, attempt: int, rng: Random) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1); None if there is no further one."""
        if attempt >= self.attempts(error.failure):
            return None
        asked = error.retry_after_s
        if asked is not None:
            if asked > self.max_retry_after_s:
                return None
            return asked + rng.uniform(0, min(_MOST_SPREAD_S, asked * _SPREAD))
        full = min(self.max_backoff_s, self.backoff_s * 2.0 ** (attempt - 1))
        return rng.uniform(full / 2, full)

    def cool_down_s(self, error: CallError, attempt: int) -> float:
        """Seconds that every call to the same endpoint pauses after this one was told that it is too fast."""
        if error.retry_after_s is not None:
            return min(error.retry_after_s, self.max_retry_after_s)
        return min(self.max_backoff_s, self.backoff_s * 2.0 ** (attempt - 1)) / 2
