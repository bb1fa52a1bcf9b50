"""Meta reflect: the teacher looks at an epoch's history and proposes a few edits."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.core.hashing import digest, text_digest
from reflact.core.types import Json
from reflact.optimizer.bodies import is_usable
from reflact.optimizer.codec import changes_from_json, changes_to_json
from reflact.optimizer.journal import Journal
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Change, EpochReview, Source, UpdateMode


@dataclass(frozen=True, slots=True)
class MetaReflection:
    """What looking at an epoch gave.

    Attributes:
        summary: The new summary; None if the call gave nothing usable, and then the former one stays.
        reasoning: Why the edits are proposed; the cause in words if there is no summary.
        changes: Edits, which no trajectory stands behind.
        dropped: Edits beyond the cap.
        invalid: Edits that cannot be carried out as they stand; the edit report shows them.
        cause: Why there is no summary, None if there is one.
    """

    summary: str | None
    reasoning: str
    changes: tuple[Change, ...] = ()
    dropped: int = 0
    invalid: int = 0
    cause: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return what `meta_reflect_result.json` holds."""
        return {
            "meta_summary": self.summary,
            "reasoning": self.reasoning,
            "changes": changes_to_json(self.changes),
            "dropped": self.dropped,
            "invalid": self.invalid,
            "cause": self.cause,
        }


async def review(review: EpochReview, cap: int, teacher: Teacher, journal: Journal) -> MetaReflection:
    """Have an epoch reviewed, once.

    Args:
        review: The epoch's records, the former summary and the skill.
        cap: Most edits (`optimizer.meta_learning_rate`); 0 takes the summary alone.
        teacher: Who reviews.
        journal: Where the reply is kept.
    """

    async def make() -> dict[str, Json]:
        try:
            summary, analysis = await teacher.review(review, cap)
        except TeacherFailure as failure:
            return MetaReflection(None, str(failure), cause=failure.cause).to_json()
        bodies = [dict(body) for body in analysis.changes]
        return MetaReflection(
            summary=summary.strip(),
            reasoning=analysis.reasoning,
            changes=tuple(Change(body, Source.HISTORY, ()) for body in bodies[:cap]),
            dropped=len(bodies[cap:]),
            invalid=sum(not is_usable(UpdateMode.PATCH, body) for body in bodies),
        ).to_json()

    inputs = {
        "teacher": teacher.fingerprint,
        "epoch": review.epoch,
        "records": [dict(record) for record in review.records],
        "former": review.meta_summary,
        "skill": text_digest(review.skill),
        "cap": cap,
    }
    data = await journal.once("meta_reflect", digest(inputs), make)
    return MetaReflection(
        data["meta_summary"],
        data["reasoning"],
        changes_from_json(data["changes"]),
        data["dropped"],
        data["invalid"],
        data["cause"],
    )
