"""Select: at most the edit budget's number of changes, the most useful first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer.codec import changes_to_json, context_key
from reflact.optimizer.journal import Journal
from reflact.optimizer.provenance import by_support
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Change, StepContext


@dataclass(frozen=True, slots=True)
class Selection:
    """The changes to apply.

    Attributes:
        changes: In order of application.
        ranked: Their indices among the changes given.
        budget: The edit budget; None is unlimited.
        called: Whether a ranking call was needed.
        fallback: Whether real support decided, wholly because the ranking failed or partly because it named
            too few changes.
        dropped: Indices of the reply that name no change or name one again.
        cause: Why the ranking failed, None if it did not.
        message: The cause in words.
    """

    changes: tuple[Change, ...]
    ranked: tuple[int, ...]
    budget: int | None
    called: bool = False
    fallback: bool = False
    dropped: int = 0
    cause: str | None = None
    message: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return what `ranked_edits.json` holds."""
        return {
            "budget": self.budget,
            "ranked": list(self.ranked),
            "called": self.called,
            "fallback": self.fallback,
            "dropped": self.dropped,
            "cause": self.cause,
            "message": self.message,
            "changes": changes_to_json(self.changes),
        }


async def select(
    changes: Sequence[Change], budget: int | None, context: StepContext, teacher: Teacher, journal: Journal
) -> Selection:
    """Choose the changes of a step.

    No call is made unless there are more changes than the budget allows: all of them are taken in the order
    given, or none with a budget of 0. Otherwise one call ranks them. What it leaves open, or everything if it
    fails, is filled by real support: largest first, failures before successes, otherwise in the order given.

    Args:
        changes: The merged changes.
        budget: Most changes to take; None takes all.
        context: What the call may see.
        teacher: Who ranks.
        journal: Where the ranking is kept.
    """
    if budget is None or len(changes) <= budget:
        return Selection(tuple(changes), tuple(range(len(changes))), budget)
    if budget == 0:
        return Selection((), (), budget)

    async def make() -> dict[str, Json]:
        try:
            indices = await teacher.rank(context, tuple(changes), budget)
        except TeacherFailure as failure:
            return {"indices": [], "cause": failure.cause, "message": str(failure)}
        return {"indices": list(indices), "cause": None, "message": ""}

    inputs = {
        "teacher": teacher.fingerprint,
        "context": context_key(context),
        "budget": budget,
        "changes": changes_to_json(changes),
    }
    reply = await journal.once("ranking", digest(inputs), make)
    valid, dropped = _valid(reply["indices"], len(changes))
    filler = [index for index in by_support(changes) if index not in valid]
    ranked = tuple((valid + filler)[:budget])
    return Selection(
        changes=tuple(changes[index] for index in ranked),
        ranked=ranked,
        budget=budget,
        called=True,
        fallback=len(valid) < budget,
        dropped=dropped,
        cause=reply["cause"],
        message=reply["message"],
    )


def _valid(indices: Iterable[Json], count: int) -> tuple[list[int], int]:
    """Return the distinct indices below `count`, in order, and how many others there were."""
    valid: list[int] = []
    dropped = 0
    for index in indices:
        # A bool is an int to Python, but no teacher means change 1 by `true`.
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count and index not in valid:
            valid.append(index)
        else:
            dropped += 1
    return valid, dropped
