"""The teacher as a protocol of stages.

A language model behind prompts is one implementation (`reflact.optimizer.llm_teacher`); the deterministic
`template` teacher and the simulated one are others.
"""

from __future__ import annotations

from typing import Protocol

from reflact.optimizer.types import (
    Analysis,
    Change,
    Comparison,
    EpochReview,
    Evidence,
    Evolution,
    LearningRate,
    Merge,
    Patch,
    Source,
    StepContext,
    TrajectoryRef,
)


class TeacherFailure(Exception):
    """A teacher call gave nothing usable (invalid or truncated twice, refused); recorded, never a crash.

    Failures of the service itself are not this: they are raised as `Unavailable` or `Stopped`.
    """

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class Teacher(Protocol):
    """Everything that the optimizer asks for. Every method may raise `TeacherFailure`."""

    @property
    def fingerprint(self) -> str:
        """Hash over everything that shapes replies (model, effort, prompts); part of each stage's key."""
        ...

    async def analyse(self, context: StepContext, source: Source, trajectories: tuple[TrajectoryRef, ...]) -> Analysis:
        """Read one minibatch and propose changes."""
        ...

    async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
        """Combine patches into one; input changes are numbered through all patches from 0."""
        ...

    async def rank(self, context: StepContext, changes: tuple[Change, ...], budget: int) -> tuple[int, ...]:
        """Return indices of `changes` in order of priority."""
        ...

    async def choose_learning_rate(self, context: StepContext, evidence: Evidence) -> LearningRate:
        """Choose an edit budget from the evidence alone."""
        ...

    async def rewrite(self, context: StepContext, changes: tuple[Change, ...]) -> tuple[str, str]:
        """Carry suggestions out; return the whole new skill and a summary of what changed."""
        ...

    async def guide(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Write slow-update guidance; return (reasoning, content of the protected block)."""
        ...

    async def remember(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Write the meta skill; return (reasoning, content)."""
        ...

    async def review(self, review: EpochReview, cap: int) -> tuple[str, Analysis]:
        """Reflect on an epoch; return (meta summary, proposed edits)."""
        ...

    async def diagnose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> str:
        """Write a short diagnostic instruction for a deep reflect."""
        ...

    async def compose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> tuple[str, str]:
        """Write a whole skill at once from one batch; return (reasoning, skill)."""
        ...

    async def evolve(self, evolution: Evolution) -> str:
        """Answer a search's prompt; the new text stands between the first and the last line of three backticks."""
        ...
