"""The autonomous learning rate: the teacher chooses a step's edit budget from the evidence alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer.codec import changes_to_json, context_key
from reflact.optimizer.journal import Journal
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Evidence, LearningRate, StepContext


@dataclass(frozen=True, slots=True)
class LrDecision:
    """A step's edit budget.

    Attributes:
        learning_rate: The budget.
        clamped: The reply lay outside 0..number of edits and was brought to the nearer end.
        fallback: The call failed, so this is the scheduler's value.
        edits: Number of merged edits that there were.
        reply: What the teacher wrote; None if the call failed.
        cause: Why it failed, None if it did not.
        message: The cause in words.
    """

    learning_rate: int
    clamped: bool
    fallback: bool
    edits: int
    reply: LearningRate | None
    cause: str | None = None
    message: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return what `lr_decision.json` holds."""
        return asdict(self)


async def choose(
    evidence: Evidence, context: StepContext, teacher: Teacher, journal: Journal, scheduled: int
) -> LrDecision:
    """Ask for an edit budget, once.

    The call sees the rollout's result, the merged edits, the step buffer and the meta skill; no default, no
    candidates and no earlier learning rate, also not by way of the analysts' cap.

    Args:
        evidence: The rollout and the merged edits.
        context: What the call may see; its cap is withheld.
        teacher: Who chooses.
        journal: Where the reply is kept.
        scheduled: The scheduler's value, taken if the call fails.
    """
    context = replace(context, cap=None)

    async def make() -> dict[str, Json]:
        try:
            reply = await teacher.choose_learning_rate(context, evidence)
        except TeacherFailure as failure:
            return {"reply": None, "cause": failure.cause, "message": str(failure)}
        return {"reply": asdict(reply), "cause": None, "message": ""}

    inputs = {
        "teacher": teacher.fingerprint,
        "context": context_key(context),
        "rollout": [evidence.n, evidence.hard, evidence.soft],
        "changes": changes_to_json(evidence.changes),
    }
    data = await journal.once("learning_rate", digest(inputs), make)
    edits = len(evidence.changes)
    if data["reply"] is None:
        return LrDecision(scheduled, False, True, edits, None, data["cause"], data["message"])
    chosen = LearningRate(**data["reply"])
    value = min(max(chosen.learning_rate, 0), edits)
    return LrDecision(value, value != chosen.learning_rate, False, edits, chosen)
