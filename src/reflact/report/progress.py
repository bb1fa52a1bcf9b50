"""The progress of one run, folded from its events.

There is one code path: a live display feeds the events of its own process, `reflact status` those that it reads
from `events.jsonl`, in the same JSON form. Time is part of every event or passed in; nothing here reads a clock.
"""

from __future__ import annotations

import contextlib
import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.events import Event
from reflact.core.names import RowStatus, RunState
from reflact.report.outlook import rows_left
from reflact.report.pace import Rate, Spent, remaining_seconds
from reflact.report.phases import PhaseProgress, phase_started
from reflact.report.retries import RetryLog
from reflact.report.spending import Spending
from reflact.report.verdicts import Verdict, Verdicts

KEPT_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class Note:
    """A warning or a failure (`code` is its cause), with its time."""

    at: float
    code: str
    message: str


@dataclass
class RunProgress:
    """Where a run is. Feed it with `feed`; ask with a time where time matters.

    Attributes:
        state: `running` from the first event on, then what the last event says; that a process died is not in
            its events.
        cause: Why the run stopped or failed, or why it ended.
        message: The same in words.
        facts: The fields of the last `run_started` event.
        open: Phases that are not complete, by name, in the order of their start.
        ended: Phases that are complete, by name.
        parked: Phases that a process left unfinished and the present one has not come to yet, by name.
        verdicts: Decisions about the skill.
        retries: Repeated attempts.
        spending: Calls, tokens and money.
        warnings: The last warnings; `warned` counts all.
        failures: The last calls that were given up and rows that ended as `error`.
        stage: The teacher's stage that was last heard of since the last phase, with its calls.
        last_at: Time of the last event.
        waits_for: The run whose evaluation of the initial skill this one waits for and does nothing else; `""` if none.
    """

    state: RunState = RunState.PLANNED
    cause: str = ""
    message: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    open: dict[str, PhaseProgress] = field(default_factory=dict)
    ended: dict[str, PhaseProgress] = field(default_factory=dict)
    parked: dict[str, PhaseProgress] = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=Verdicts)
    retries: RetryLog = field(default_factory=RetryLog)
    waits_for: str = ""
    spending: Spending = field(default_factory=Spending)
    warnings: list[Note] = field(default_factory=list)
    warned: int = 0
    failures: list[Note] = field(default_factory=list)
    stage: str = ""
    stage_calls: int = 0
    last_at: float | None = None
    rate: Rate = field(default_factory=Rate)
    _spent: Spent = field(default_factory=Spent)
    _worked_s: float = 0.0
    _process_began: float | None = None
    _idle_since: float | None = None

    # ------------------------------------------------------------------ feeding

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event in its JSON form: `{"t": ..., "kind": ..., ...}`.

        An event of an unknown kind only moves the time; one with a malformed field does no more than that either,
        since a display must outlive what it shows.
        """
        at = seconds(event.get("t"))
        if at is None:
            return
        self.waits_for = ""  # whoever does something else as well does not wait
        handler = _HANDLERS.get(str(event.get("kind")))
        if handler is not None:
            with contextlib.suppress(TypeError, ValueError, AttributeError, OverflowError):
                handler(self, at, event)
        self.last_at = at if self.last_at is None else max(self.last_at, at)

    def _baseline_shared(self, at: float, event: Mapping[str, Any]) -> None:
        self.waits_for = str(event["source"]) if event["state"] == "waiting" else ""

    def feed_all(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Take events in order."""
        for event in events:
            self.feed(event)

    def _run_started(self, at: float, event: Mapping[str, Any]) -> None:
        self._close_process()
        self.facts = dict(event)
        self.state, self.cause, self.message = RunState.RUNNING, "", ""
        self._process_began, self._idle_since = at, None
        self.parked.update(self.open)
        self.open.clear()
        self.retries.waiting.clear()
        self.rate.start(at)

    def _phase_started(self, at: float, event: Mapping[str, Any]) -> None:
        name = str(event.get("name"))
        known = self.open.get(name) or self.parked.pop(name, None) or self.ended.pop(name, None)
        if known is None:
            known = phase_started(at, event)
        else:
            began = self._process_began
            known.restart(at, event, same_process=began is not None and known.started_at >= began)
        if not known.background and not any(not phase.background for phase in self.open.values()):
            if self._idle_since is not None and known.step is not None:
                self._spent.between_s += max(0.0, at - self._idle_since)
            self.rate.start(at)
        self.open[name] = known
        self.stage, self.stage_calls = "", 0

    def _row(self, at: float, event: Mapping[str, Any]) -> None:
        phase = self.open.get(str(event.get("name")))
        if phase is not None:
            phase.row(at, event)
            self.rate.tick(at)
        if event.get("status") == RowStatus.ERROR:
            self._failed(at, str(event.get("cause")), f"{event.get('name')}: item {event.get('id')} has no score")

    def _phase_ended(self, at: float, event: Mapping[str, Any]) -> None:
        name = str(event.get("name"))
        phase = self.open.pop(name, None)
        if phase is None:
            return
        rows = phase.done - phase.done_at_start
        phase.end(at, event)
        self.ended[name] = phase
        self.retries.phase_ended(phase.phase)
        if not phase.background:
            self._spent.seconds[phase.phase] += max(0.0, at - phase.started_at)  # type: ignore[assignment]
            self._spent.rows[phase.phase] += rows
            self._idle_since = at

    def _call(self, _at: float, event: Mapping[str, Any]) -> None:
        self.spending.answered(event)
        self.retries.answered(event)
        if event.get("role") == "teacher":
            self._teacher_at(str(event.get("stage")))

    def _call_failed(self, at: float, event: Mapping[str, Any]) -> None:
        self.spending.failed(event)
        self.retries.failed(event)
        self._failed(at, str(event.get("cause")), f"{event.get('role')} call given up: {event.get('message')}")

    def _failed(self, at: float, cause: str, message: str) -> None:
        self.failures.append(Note(at, cause, message))
        del self.failures[:-KEPT_WARNINGS]

    def _retry(self, at: float, event: Mapping[str, Any]) -> None:
        self.retries.retry(at, event)
        if event.get("role") == "teacher":
            self._teacher_at(str(event.get("stage")), calls=0)

    def _teacher_at(self, stage: str, calls: int = 1) -> None:
        self.stage_calls = self.stage_calls + calls if stage == self.stage else calls
        self.stage = stage

    def _decision(self, _at: float, event: Mapping[str, Any]) -> None:
        self.verdicts.record(event)
        self.stage, self.stage_calls = "", 0

    def _warning(self, at: float, event: Mapping[str, Any]) -> None:
        self.warned += 1
        self.warnings.append(Note(at, str(event.get("code")), str(event.get("message"))))
        del self.warnings[:-KEPT_WARNINGS]

    def _run_stopped(self, at: float, event: Mapping[str, Any]) -> None:
        failed = event.get("state") == RunState.FAILED
        self._end(at, RunState.FAILED if failed else RunState.STOPPED)
        self.cause, self.message = str(event.get("cause")), str(event.get("message"))

    def _run_finished(self, at: float, event: Mapping[str, Any]) -> None:
        self._end(at, RunState.DONE)
        self.cause, self.message = str(event.get("stop_reason")), ""

    def _end(self, at: float, state: RunState) -> None:
        self.last_at = at if self.last_at is None else max(self.last_at, at)
        self._close_process()
        self.state = state
        self.retries.waiting.clear()

    def _close_process(self) -> None:
        """The time between two processes of one run is nobody's work."""
        if self._process_began is not None and self.last_at is not None:
            self._worked_s += max(0.0, self.last_at - self._process_began)
        self._process_began = None

    # ------------------------------------------------------------------ asking

    @property
    def run_id(self) -> str:
        """The run's id, `""` before it said so."""
        return str(self.facts.get("run_id") or "")

    @property
    def simulated(self) -> bool:
        """Whether answers are simulated."""
        return bool(self.facts.get("simulated"))

    @property
    def phase(self) -> PhaseProgress | None:
        """The phase that the run waits for: the latest one in the foreground, else one in the background."""
        phases = list(self.open.values())
        front = [phase for phase in phases if not phase.background]
        if front:
            return front[-1]
        return phases[-1] if phases and not self.stage else None

    @property
    def background(self) -> list[PhaseProgress]:
        """The other phases under way."""
        front = self.phase
        return [phase for phase in self.open.values() if phase is not front]

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return int(self.facts.get("steps") or 0)

    @property
    def epochs(self) -> int:
        """Epochs of the whole run."""
        return int(self.facts.get("epochs") or 0)

    @property
    def step(self) -> int:
        """The step under way or last ended, 0 before the first one."""
        return max((place.step or 0 for place in self._places()), default=0)

    @property
    def epoch(self) -> int:
        """The epoch under way or last ended, 0 before the first one."""
        return max((place.epoch or 0 for place in self._places()), default=0)

    def _places(self) -> list[PhaseProgress | Verdict]:
        return [*self.open.values(), *self.ended.values(), *self.verdicts.all]

    @property
    def baseline(self) -> float | None:
        """The initial skill's selection score."""
        phase = self.ended.get("baseline/selection")
        return phase.hard if phase else None

    @property
    def current(self) -> float | None:
        """The current skill's selection score, in the gate's metric once there was a decision."""
        known = self.verdicts.current
        return self.baseline if known is None else known

    @property
    def best(self) -> float | None:
        """The best skill's selection score, in the gate's metric once there was a decision."""
        known = self.verdicts.best
        return self.baseline if known is None else known

    def test(self, which: str) -> float | None:
        """Return the test score of `baseline`, `best` or `final`, None where it is not measured."""
        phase = self.ended.get("baseline/test" if which == "baseline" else f"test/{which}")
        return phase.hard if phase else None

    @property
    def statuses(self) -> Counter[str]:
        """Rows by status over all phases."""
        total: Counter[str] = Counter()
        for counts in self.statuses_by_phase.values():
            total.update(counts)
        return total

    @property
    def statuses_by_phase(self) -> dict[str, Counter[str]]:
        """Rows by status for each kind of phase (`train`, `selection`, `test`, `slow`)."""
        kinds: dict[str, Counter[str]] = {}
        for phase in [*self.ended.values(), *self.parked.values(), *self.open.values()]:
            kinds.setdefault(phase.phase, Counter()).update(phase.all_statuses)
        return kinds

    def elapsed_s(self, now: float) -> float:
        """Return the seconds that processes worked on the run."""
        open_s = 0.0 if self._process_began is None else max(0.0, now - self._process_began)
        return self._worked_s + open_s

    def eta_s(self, now: float) -> float | None:
        """Return the seconds to the end at the pace so far, None where nothing can be said."""
        if self.state is not RunState.RUNNING:
            return None
        current = {
            phase.phase: (max(0.0, now - phase.started_at), phase.done - phase.done_at_start)
            for phase in self.open.values()
            if not phase.background and phase.done > phase.done_at_start
        }
        left = rows_left(self)
        if left is None:
            return None
        steps_done = len(self.verdicts.steps_decided)
        return remaining_seconds(left, max(0, self.steps - steps_done), steps_done, self._spent, current)


def event_json(event: Event, at: float) -> dict[str, Any]:
    """Return an event of this process as `events.jsonl` has it."""
    return {"t": at, "kind": event.kind, **event.to_json()}


def seconds(value: object) -> float | None:
    """Return an event's time as seconds since 1970, whether it is written as a number or as an ISO date."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            return datetime.datetime.fromisoformat(value).timestamp()
        except ValueError:
            return None
    return None


_HANDLERS: dict[str, Callable[[RunProgress, float, Mapping[str, Any]], None]] = {
    "run_started": RunProgress._run_started,
    "phase_started": RunProgress._phase_started,
    "row": RunProgress._row,
    "phase_ended": RunProgress._phase_ended,
    "baseline_shared": RunProgress._baseline_shared,
    "call": RunProgress._call,
    "call_failed": RunProgress._call_failed,
    "retry": RunProgress._retry,
    "stage": lambda run, _at, event: run._teacher_at(str(event.get("stage")), calls=0),
    "decision": RunProgress._decision,
    "warning": RunProgress._warning,
    "run_stopped": RunProgress._run_stopped,
    "run_finished": RunProgress._run_finished,
}
