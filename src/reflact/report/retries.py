"""Retries as events tell them: how many, why, and which calls wait now.

Counts come from the status that a server sent, never from text: a progress bar that says `429/494` is not a
rate limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RATE_LIMITED = "429"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that is being repeated: it waits until `until`, then its next attempt is under way."""

    role: str
    stage: str
    phase: str
    reason: str
    attempt: int
    max_attempts: int
    since: float
    until: float


@dataclass
class RetryLog:
    """Retries of a run.

    Attributes:
        counts: Attempts that failed and were repeated, by HTTP status (`429`), or by cause where there was none
            (`connection`, `no_answer`).
        given_up: Calls that got no answer after all attempts, by cause.
        wait_s: Seconds that calls were asked to wait after a 429.
        waiting: Calls that are being repeated now.
    """

    counts: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    wait_s: float = 0.0
    waiting: list[Waiting] = field(default_factory=list)

    @property
    def rate_limits(self) -> int:
        """Answers with status 429: those that were repeated, and the last ones of calls that were given up."""
        return self.counts[RATE_LIMITED] + self.given_up["rate_limit"]

    @property
    def repeated(self) -> dict[str, int]:
        """Retries by status or cause, largest first."""
        return dict(self.counts.most_common())

    def retry(self, at: float, event: Mapping[str, Any]) -> None:
        """An attempt failed and will be repeated."""
        status = event.get("status")
        reason = str(status) if status is not None else str(event.get("cause"))
        self.counts[reason] += 1
        wait = float(event.get("wait_s") or 0)
        if reason == RATE_LIMITED:
            self.wait_s += wait
        attempt = int(event.get("attempt") or 1)
        self._drop(event, attempt - 1)
        self.waiting.append(
            Waiting(
                role=str(event.get("role")),
                stage=str(event.get("stage")),
                phase=str(event.get("phase")),
                reason=reason,
                attempt=attempt,
                max_attempts=int(event.get("max_attempts") or 0),
                since=at,
                until=at + wait,
            )
        )

    def answered(self, event: Mapping[str, Any]) -> None:
        """A call got its answer."""
        self._drop(event, _failed_attempts(event))

    def failed(self, event: Mapping[str, Any]) -> None:
        """A call was given up."""
        self.given_up[str(event.get("cause"))] += 1
        self._drop(event, _failed_attempts(event) - 1)

    def phase_ended(self, phase: str) -> None:
        """Nothing of a student's phase waits any more."""
        self.waiting = [call for call in self.waiting if call.role != "student" or call.phase != phase]

    def _drop(self, event: Mapping[str, Any], attempt: int) -> None:
        """Take out one waiting call of the same kind that had failed `attempt` times; they are interchangeable."""
        if attempt < 1:
            return
        kind = (event.get("role"), event.get("stage"), event.get("phase"))
        for place, call in enumerate(self.waiting):
            if call.attempt == attempt and (call.role, call.stage, call.phase) == kind:
                del self.waiting[place]
                return


def _failed_attempts(event: Mapping[str, Any]) -> int:
    usage = event.get("usage")
    return int(usage.get("failed_calls") or 0) if isinstance(usage, Mapping) else 0
