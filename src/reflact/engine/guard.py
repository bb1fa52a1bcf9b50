"""Stops an evaluation that cannot succeed after a few rows, not after the whole split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.errors import Stopped
from reflact.core.names import StopCause
from reflact.engine.scores import RowRef
from reflact.models.protocol import Failure

ALIKE = 12
_SHOWN = 5
_OF_THE_SERVICE = frozenset(failure.value for failure in Failure if failure.retryable)


@dataclass(slots=True)
class RowGuard:
    """Counts rows that failed one after the other for a reason of our own, with nothing succeeding in between.

    Failures of the service are the caller's to judge (`reflact.models.breaker`): they also end last, after all their
    attempts, so that a streak of them at the end of a phase says nothing.
    """

    streak: int = 0
    cause: str | None = None

    def succeeded(self) -> None:
        """A row got a score."""
        self.streak = 0

    def failed(self, row: RowRef, where: str) -> None:
        """A row ended as `error`.

        Raises:
            Stopped: `ALIKE` rows in a row failed for the same cause.
        """
        if row.cause in _OF_THE_SERVICE:
            return
        self.streak = self.streak + 1 if row.cause == self.cause else 1
        self.cause = row.cause
        if self.streak >= ALIKE:
            raise Stopped(
                StopCause.ERRORS,
                f"{where}: the last {self.streak} items all failed with {row.cause!r}, so the run stops here instead "
                "of failing on every item. train.log has the reason; after mending it go on with run.resume=true "
                "(and run.allow_code_change=true if code was changed).",
            )


def error_stop(where: str, errors: Sequence[RowRef], n: int) -> Stopped:
    """Return the stop for an evaluation with too many `error` rows left."""
    causes = Counter(str(row.cause) for row in errors)
    shown = ", ".join(row.id for row in errors[:_SHOWN]) + (", ..." if len(errors) > _SHOWN else "")
    why = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    return Stopped(
        _cause(errors),
        f"{where}: {len(errors)} of {n} items have no score after all rounds ({why}): {shown}. "
        "Resume to try them again, or allow some with evaluation.max_error_rate=SHARE.",
    )


def _cause(errors: Sequence[RowRef]) -> StopCause:
    limited = sum(row.cause == "rate_limit" for row in errors)
    return StopCause.RATE_LIMIT if 2 * limited > len(errors) else StopCause.ERRORS
