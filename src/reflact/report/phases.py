"""Progress of one evaluation or rollout, folded from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.names import RowStatus


@dataclass
class PhaseProgress:
    """An evaluation or rollout.

    Attributes:
        name: Its folder in the run directory (`steps/step_0003/selection`).
        phase: What it is for (`train`, `selection`, `test`, `slow`).
        n: Rows it will have.
        done: Rows it has; a row that is run again after an error counts once.
        background: It only fills idle slots.
        epoch, step: Where it belongs.
        started_at: When this process began with it.
        done_at_start: Rows that were there when this process began with it.
        last_row_at: When its last row ended.
        ended_at: When it was complete.
        statuses: Rows by status; the latest status of a row counts.
        earlier: Rows by status of a part that this process completed before it extended the phase.
        scored: Rows with a score among those seen.
        hard: Mean score over the scored rows.
    """

    name: str
    phase: str
    n: int
    done: int
    background: bool
    epoch: int | None
    step: int | None
    started_at: float
    done_at_start: int = 0
    last_row_at: float | None = None
    ended_at: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    earlier: Counter[str] = field(default_factory=Counter)
    scored: int = 0
    hard: float | None = None
    _hard_sum: float = 0.0
    _errors: Counter[str] = field(default_factory=Counter)

    @property
    def ended(self) -> bool:
        """Whether the phase is complete."""
        return self.ended_at is not None

    @property
    def left(self) -> int:
        """Rows still to come."""
        return 0 if self.ended else max(0, self.n - self.done)

    def seconds_per_row(self, now: float) -> float | None:
        """Return wall seconds a row took in this process, None before the first one."""
        rows = self.done - self.done_at_start
        return None if rows <= 0 else max(0.0, (self.ended_at or now) - self.started_at) / rows

    @property
    def all_statuses(self) -> Counter[str]:
        """Rows by status, those of earlier parts included."""
        return self.statuses + self.earlier

    def restart(self, at: float, event: Mapping[str, Any], *, same_process: bool) -> None:
        """The phase began once more.

        Another process goes on with it, and rows that were lost with the former one count no more; or the same
        process, which had completed it, extends it by a further part.
        """
        further = same_process and self.ended and not event.get("done")
        self.earlier = self.all_statuses if further else Counter()
        if further:
            self.statuses = Counter()
        self.started_at, self.last_row_at, self.ended_at = at, None, None
        self.background = bool(event.get("background"))
        self.n = int(event.get("n") or 0)
        self.done = self.done_at_start = int(event.get("done") or 0)
        self._errors.clear()
        self.statuses.pop(RowStatus.ERROR.value, None)
        if self.statuses.total() != self.done:
            # Some rows did not survive; which ones is known again when the phase ends.
            self.statuses.clear()
            self.scored, self.hard, self._hard_sum = 0, None, 0.0

    def row(self, at: float, event: Mapping[str, Any]) -> None:
        """An item ended; an item that had ended in an error before replaces that error."""
        status, item = str(event.get("status")), str(event.get("id"))
        again = int(event.get("attempt") or 1) > 1 and self._errors[item] > 0
        if again:
            self._errors[item] -= 1
            self.statuses[RowStatus.ERROR.value] -= 1
        else:
            self.done += 1
        self.statuses[status] += 1
        if status == RowStatus.ERROR:
            self._errors[item] += 1
        hard = event.get("hard")
        if isinstance(hard, int | float):
            self.scored += 1
            self._hard_sum += hard
            self.hard = self._hard_sum / self.scored
        self.last_row_at = at

    def end(self, at: float, event: Mapping[str, Any]) -> None:
        """The phase is complete; its own counts replace those gathered on the way."""
        self.ended_at = at
        self.n = int(event.get("n") or self.n)
        self.scored = int(event.get("scored") or 0)
        hard = event.get("hard")
        self.hard = float(hard) if isinstance(hard, int | float) else None
        self.statuses = Counter({str(name): int(number) for name, number in (event.get("statuses") or {}).items()})
        # Fewer than n, where an evaluation was cut short by early rejection.
        self.done = self.statuses.total() or self.done
        self._errors.clear()


def phase_started(at: float, event: Mapping[str, Any]) -> PhaseProgress:
    """Return the progress of a phase that begins."""
    done = int(event.get("done") or 0)
    return PhaseProgress(
        name=str(event.get("name")),
        phase=str(event.get("phase")),
        n=int(event.get("n") or 0),
        done=done,
        background=bool(event.get("background")),
        epoch=event.get("epoch"),
        step=event.get("step"),
        started_at=at,
        done_at_start=done,
    )
