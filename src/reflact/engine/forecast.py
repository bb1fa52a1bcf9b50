"""Tells the student's slots when the loop will want them again, so that background work fits in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reflact.models.slots import Slots


@dataclass(slots=True)
class Forecast:
    """Turns "so many teacher calls still have to follow one another" into a time.

    Attributes:
        student: The student's slots.
        teacher: The teacher's slots, which know how long a call usually takes.
        clock: Monotonic seconds.
    """

    student: Slots
    teacher: Slots
    clock: Callable[[], float]

    def rollout(self, calls_after: int) -> None:
        """A rollout runs; `calls_after` teacher calls follow before the student is wanted again."""
        self.student.expect(after=calls_after * self._call_s)

    def teaching(self, calls: int) -> None:
        """Only the teacher works now, for `calls` calls one after the other."""
        self.student.expect(at=self.clock() + calls * self._call_s)

    def student_wanted(self) -> None:
        """The student is wanted, now and right after this phase."""
        self.student.expect()

    def student_free(self) -> None:
        """Nothing will want the student any more: background work may take every slot."""
        self.student.expect(at=float("inf"))

    @property
    def _call_s(self) -> float:
        return self.teacher.typical_s or 0.0


def merge_depth(patches: int, group: int) -> int:
    """Return how many merge calls follow one another when `patches` are reduced in groups of `group`."""
    depth = 0
    while patches > 1:
        patches = -(-patches // group)
        depth += 1
    return depth
