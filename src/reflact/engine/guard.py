"""Stops an evaluation that cannot succeed after a few rows, not after the whole split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.errors import Stopped
from reflact.core.names import StopCause
from reflact.engine.scores import RowRef

ALIKE = 8
_SHOWN = 5


@dataclass(slots=True)
class RowGuard:
    """Counts rows that failed one after the other with nothing succeeding in between."""

    streak: int = 0
    causes: Counter[str] | None = None

    def succeeded(self) -> None:
        """A row got a score."""
        self.streak, self.causes = 0, None

    def failed(self, row: RowRef, where: str) -> None:
        """A row ended as `error`.

        Raises:
            Stopped: `ALIKE` rows in a row failed for the same cause.
        """
        self.causes = self.causes if self.causes is not None else Counter()
        self.causes[str(row.cause)] += 1
        self.streak += 1
        if self.streak >= ALIKE and len(self.causes) == 1:
            raise Stopped(
                _cause([row]),
                f"{where}: the last {self.streak} items all failed with {row.cause!r}, so the run stops here instead "
                f"of failing on every item. {_advice(str(row.cause))}",
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


def _advice(cause: str) -> str:
    if cause == "rate_limit":
        return "Lower env.workers or set limits.requests_per_minute, then resume."
    if cause.startswith("bug"):
        return "train.log has the traceback; after mending it resume with run.allow_code_change=true."
    return "Check the service, then resume."
