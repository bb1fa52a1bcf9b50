"""Deep reflect: a few representative items are done again under a diagnostic instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer.codec import context_key, refs_key
from reflact.optimizer.journal import Journal
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import StepContext, TrajectoryRef


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A diagnostic instruction for the student.

    Attributes:
        instruction: The instruction; None if there is none, and then the deep reflect is left out.
        cause: Why there is none, None if there is one.
        message: The cause in words.
    """

    instruction: str | None
    cause: str | None = None
    message: str = ""


def representatives(refs: Sequence[TrajectoryRef], failures: int, successes: int) -> tuple[TrajectoryRef, ...]:
    """Choose trajectories to do again: one a task type first, then more, each time in batch order.

    Args:
        refs: The scored trajectories of a batch, in batch order.
        failures: Most failed ones (`gradient.deep_reflect_failures`).
        successes: Most successful ones (`gradient.deep_reflect_successes`).

    Returns:
        The chosen ones in batch order.
    """
    failed = [index for index, ref in enumerate(refs) if ref.hard == 0]
    passed = [index for index, ref in enumerate(refs) if ref.hard != 0]
    chosen = _spread(refs, failed, failures) + _spread(refs, passed, successes)
    return tuple(refs[index] for index in sorted(chosen))


async def diagnose(
    refs: Sequence[TrajectoryRef], context: StepContext, teacher: Teacher, journal: Journal
) -> Diagnosis:
    """Have a short diagnostic instruction written, once; without trajectories there is no call."""
    if not refs:
        return Diagnosis(None, "no_trajectories", "no trajectory to do again")

    async def make() -> dict[str, Json]:
        try:
            instruction = await teacher.diagnose(context, tuple(refs))
        except TeacherFailure as failure:
            return asdict(Diagnosis(None, failure.cause, str(failure)))
        if not instruction.strip():
            return asdict(Diagnosis(None, "empty", "the instruction was empty"))
        return asdict(Diagnosis(instruction.strip()))

    inputs = {"teacher": teacher.fingerprint, "context": context_key(context), "members": refs_key(refs)}
    return Diagnosis(**await journal.once("diagnosis", digest(inputs), make))


def _spread(refs: Sequence[TrajectoryRef], indices: Sequence[int], most: int) -> list[int]:
    """Take at most `most` indices: the first of each task type, then the others."""
    seen: set[str] = set()
    first: list[int] = []
    rest: list[int] = []
    for index in indices:
        (rest if refs[index].task_type in seen else first).append(index)
        seen.add(refs[index].task_type)
    return (first + rest)[:most]
