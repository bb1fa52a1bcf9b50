"""One shot: the teacher reads one batch and writes the whole skill, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.hashing import text_digest
from reflact.core.types import Json
from reflact.optimizer.codec import context_key, refs_key
from reflact.optimizer.journal import Journal
from reflact.optimizer.rewrite import Kept, whole_skill, withheld
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.types import StepContext, TrajectoryRef


@dataclass(frozen=True, slots=True)
class OneShot:
    """A skill written at once.

    Attributes:
        text: The skill with the former one's protected block; None if there is none to take.
        cause: Why there is none (`truncated`, `invalid`, `empty`, `too_long`, `refused` ...).
        reasoning: The teacher's words; the cause in words if there is no text.
    """

    text: str | None
    cause: str | None
    reasoning: str

    def to_json(self) -> dict[str, Json]:
        """Return what `one_shot_result.json` holds."""
        return {
            "cause": self.cause,
            "reasoning": self.reasoning,
            "skill_sha256": None if self.text is None else text_digest(self.text),
            "skill_chars": None if self.text is None else len(self.text),
        }


async def write_once(
    context: StepContext, trajectories: Sequence[TrajectoryRef], teacher: Teacher, journal: Journal, max_chars: int = 0
) -> OneShot:
    """Have the skill written; a reply that is there is not asked for again.

    Args:
        context: What the call may see; the protected block is withheld.
        trajectories: The batch, in order.
        teacher: Who writes.
        journal: Where the reply is kept.
        max_chars: Longest skill in characters (`optimizer.max_skill_chars`); 0 is no bound.
    """
    outside = withheld(context)
    inputs = {
        "teacher": teacher.fingerprint,
        "context": context_key(outside),
        "trajectories": refs_key(trajectories),
    }

    async def call() -> tuple[str, str]:
        reasoning, text = await teacher.compose(outside, tuple(trajectories))
        return text, reasoning

    text, cause, reasoning = await whole_skill(context, journal, Kept("one_shot", "reasoning", inputs), call, max_chars)
    return OneShot(text, cause, reasoning)
