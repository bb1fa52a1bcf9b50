"""How fast a training run could be: the phases that must follow one another, and what fits beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from reflact.rundir.events import read_events


@dataclass(frozen=True, slots=True)
class Phase:
    """Work that must end before the next phase begins.

    Attributes:
        name: For tables.
        student: Student calls in it; 0 for a phase of the teacher.
        chain: Teacher calls that follow one another in it.
        filler: Whether background calls may use the slots that it leaves idle.
    """

    name: str
    student: int
    chain: int = 0
    filler: bool = True


@dataclass(frozen=True, slots=True)
class Bound:
    """Seconds of a schedule, and slot-seconds that its phases leave idle.

    Attributes:
        phases_s: The phases one after the other.
        idle_slot_s: Slot-seconds of the student that background calls may use in them.
        background_slot_s: Slot-seconds that the background calls need.
        final_s: What comes after training: tests of other skills and what is left of the background calls.
    """

    phases_s: float
    idle_slot_s: float
    background_slot_s: float
    final_s: float

    @property
    def total_s(self) -> float:
        """Seconds of the whole run."""
        return self.phases_s + self.final_s


def bound(
    phases: Sequence[Phase],
    *,
    background: int,
    final: int,
    latency_s: float,
    teacher_s: float,
    slots: int,
    whole_calls: bool,
) -> Bound:
    """Return the schedule bound.

    Args:
        phases: In order.
        background: Student calls that nothing waits for before the end.
        final: Student calls that can only begin after the phases.
        latency_s: Mean latency of a student call.
        teacher_s: Mean latency of a teacher call.
        slots: Student calls in flight.
        whole_calls: False: a phase of n calls takes `max(latency, n * latency / slots)`, as if calls could be cut in
            pieces. True: `ceil(n / slots) * latency`, which calls of equal length really need.
    """

    def seconds(calls: int) -> float:
        if whole_calls:
            return ceil(calls / slots) * latency_s
        return max(latency_s, calls * latency_s / slots) if calls else 0.0

    total = idle = 0.0
    for phase in phases:
        length = seconds(phase.student) + phase.chain * teacher_s
        total += length
        if phase.filler:
            idle += length * slots - phase.student * latency_s
    needed = background * latency_s
    left = ceil(max(0.0, needed - idle) / latency_s) + final
    return Bound(total, idle, needed, seconds(left))


def phases_of(root: Path) -> tuple[list[Phase], int]:
    """Return the phases of a finished run from its files, and the student calls of its final tests.

    The first phases leave nothing to background calls: these begin when a first teacher reply was accepted.
    """
    sizes = {
        event["name"]: event["n"] for event in read_events(root / "events.jsonl")[0] if event["kind"] == "phase_started"
    }
    phases = [Phase("baseline", sizes["baseline/selection"], filler=False)]
    for step in sorted((root / "steps").iterdir()):
        first = len(phases) == 1
        phases.append(Phase(f"{step.name} rollout", sizes[f"steps/{step.name}/rollout"], filler=not first))
        phases += [
            Phase(f"{step.name} {name}", 0, chain=1, filler=not first or number > 0)
            for number, name in enumerate(_chain(step))
        ]
        selection = f"steps/{step.name}/selection"
        if selection in sizes:
            phases.append(Phase(f"{step.name} gate", sizes[selection]))
    return phases, sum(n for name, n in sizes.items() if name.startswith("test/"))


def _chain(step: Path) -> Iterator[str]:
    """Yield the teacher calls of a step that follow one another."""
    if list(step.glob("patches/*.json")):
        yield "reflect"
    levels = {path.stem.split("_")[1] for path in step.glob("merges/*_*_*.json")}
    yield from (f"merge {level}" for level in sorted(levels))
    if (step / "merges" / "final.json").exists():
        yield "final merge"
    if (step / "ranking.json").exists():
        yield "rank"
