"""What happens in a run, as typed events.

The run directory writes every event to `events.jsonl`; displays, trackers and `reflact status` fold the same
events and never influence a run. An event holds no skill, item or answer text beyond short previews.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from reflact.core.usage import Usage


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; `kind` is the name in `events.jsonl`."""

    kind: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """Return the event's fields as JSON, without time and kind."""
        values = {}
        for item in fields(self):
            value = getattr(self, item.name)
            values[item.name] = value.to_json() if isinstance(value, Usage) else value
        return values


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A process began (or went on with) the run. `plan` counts what the configuration implies."""

    kind: ClassVar[str] = "run_started"
    run_id: str
    benchmark: str
    harness: str
    student: str
    teacher: str
    simulated: bool
    resumed: bool
    pid: int
    host: str
    epochs: int
    steps: int
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PhaseStarted(Event):
    """An evaluation or rollout began.

    `name` is unique in the run and is the evaluation folder's path in the run directory
    (`baseline/selection`, `steps/step_0003/rollout`). `background` phases only fill idle slots.
    """

    kind: ClassVar[str] = "phase_started"
    name: str
    phase: str
    n: int
    done: int
    epoch: int | None = None
    step: int | None = None
    background: bool = False


@dataclass(frozen=True, slots=True)
class RowFinished(Event):
    """An item of phase `name` ended."""

    kind: ClassVar[str] = "row"
    name: str
    id: str
    status: str
    cause: str | None
    hard: float | None
    soft: float | None
    attempt: int
    latency_s: float
    wait_s: float


@dataclass(frozen=True, slots=True)
class PhaseEnded(Event):
    """An evaluation or rollout is complete: mean scores over the scored rows and counts by status."""

    kind: ClassVar[str] = "phase_ended"
    name: str
    n: int
    scored: int
    hard: float | None
    soft: float | None
    statuses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BaselineShared(Event):
    """The rows of phase `name` come from another run of the sweep.

    `state` is `waiting` when the wait for run `source` begins, `copied` when its rows are there, `made` when this run
    makes them itself after all; `waited_s` are the seconds in which it did nothing else.
    """

    kind: ClassVar[str] = "baseline_shared"
    name: str
    state: str
    source: str
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """A model call got its answer.

    `usage` includes the failed attempts before it; the sum over all `call` and `call_failed` events is the run's.
    """

    kind: ClassVar[str] = "call"
    role: str
    stage: str
    phase: str
    model: str
    usage: Usage
    latency_s: float
    wait_s: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class CallFailed(Event):
    """A model call gave no answer after all its attempts; `usage` counts the failed attempts."""

    kind: ClassVar[str] = "call_failed"
    role: str
    stage: str
    phase: str
    model: str
    usage: Usage
    cause: str
    message: str
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CallRetried(Event):
    """An attempt failed and will be repeated after `wait_s` seconds; `retry_after_s` is what the server said."""

    kind: ClassVar[str] = "retry"
    role: str
    stage: str
    phase: str
    cause: str
    status: int | None
    attempt: int
    max_attempts: int
    wait_s: float
    retry_after_s: float | None
    message: str


@dataclass(frozen=True, slots=True)
class StageDone(Event):
    """A teacher stage of a step ended; `detail` holds small counts (patches, edits, fallbacks)."""

    kind: ClassVar[str] = "stage"
    stage: str
    epoch: int
    step: int | None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision(Event):
    """What a step or an epoch-end update did to the skill, with the scores it rests on."""

    kind: ClassVar[str] = "decision"
    what: str
    epoch: int
    step: int | None
    action: str
    candidate_score: float | None
    current_score: float | None
    best_score: float | None
    edits_applied: int
    edit_budget: int | None
    skill_chars: int
    preview: str = ""


@dataclass(frozen=True, slots=True)
class Warned(Event):
    """Something that a person should read; the run goes on."""

    kind: ClassVar[str] = "warning"
    code: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunStopped(Event):
    """The process ended before the run was complete. `state` is `stopped` (resumable) or `failed`."""

    kind: ClassVar[str] = "run_stopped"
    state: str
    cause: str
    message: str


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """`summary.json` was written."""

    kind: ClassVar[str] = "run_finished"
    stop_reason: str


Emit = Callable[[Event], None]
"""Where events go; a listener must not raise and must return at once."""
