"""Slow update: guidance in the protected block, written from what changed over an epoch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer import protected
from reflact.optimizer.comparison import classify, comparison_key, keep, pair_kind
from reflact.optimizer.journal import Journal
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Comparison

__all__ = ["Guidance", "classify", "guide", "keep", "pair_kind", "written"]


@dataclass(frozen=True, slots=True)
class Guidance:
    """A text that the teacher wrote about a comparison.

    Attributes:
        content: The text; None if there is none, and then the former one stays.
        cause: Why there is none (`no_pairs`, `empty`, `truncated`, `invalid`, `refused` ...).
        reasoning: The teacher's reasons; the cause in words if there is no text.
    """

    content: str | None
    cause: str | None
    reasoning: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the guidance as a JSON object."""
        return asdict(self)


async def guide(comparison: Comparison, former: str, teacher: Teacher, journal: Journal) -> Guidance:
    """Have the guidance for the protected block written, once.

    Markers in the reply become plain words. Without pairs there is nothing to learn from, and no call.

    Args:
        comparison: Both skills and the pairs that the policy kept.
        former: The guidance so far, `""` if there is none.
        teacher: Who writes.
        journal: Where the reply is kept.
    """
    reply = await written("slow_update", comparison, former, teacher, journal, teacher.guide)
    if reply.content is None:
        return reply
    return Guidance(protected.neutralise(reply.content), None, reply.reasoning)


async def written(
    name: str,
    comparison: Comparison,
    former: str,
    teacher: Teacher,
    journal: Journal,
    write: Callable[[Comparison, str], Awaitable[tuple[str, str]]],
) -> Guidance:
    """Have a text about a comparison written by one of the teacher's methods, once under `name`."""
    if not comparison.pairs:
        return Guidance(None, "no_pairs", "no pair of scored items to compare")

    async def make() -> dict[str, Json]:
        try:
            reasoning, content = await write(comparison, former)
        except TeacherFailure as failure:
            return Guidance(None, failure.cause, str(failure)).to_json()
        if not content.strip():
            return Guidance(None, "empty", reasoning).to_json()
        return Guidance(content.strip(), None, reasoning).to_json()

    inputs = {"teacher": teacher.fingerprint, "comparison": comparison_key(comparison), "former": former}
    return Guidance(**await journal.once(name, digest(inputs), make))
