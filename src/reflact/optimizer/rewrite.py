"""Rewrite: suggestions are carried out by one call that returns the whole new skill."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from reflact.core.hashing import digest, text_digest
from reflact.core.types import Json
from reflact.optimizer import protected
from reflact.optimizer.codec import changes_to_json, context_key
from reflact.optimizer.journal import Journal
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Change, StepContext


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewritten skill.

    Attributes:
        text: The new skill with its protected block; None if there is none to take.
        cause: Why there is none (`truncated`, `invalid`, `empty`, `too_long`, `refused` ...).
        summary: What changed, in the rewriter's words; the cause in words if there is no text.
        suggestions: The changes carried out.
    """

    text: str | None
    cause: str | None
    summary: str
    suggestions: tuple[Change, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return what `rewrite_result.json` holds."""
        return {
            "cause": self.cause,
            "summary": self.summary,
            "skill_sha256": None if self.text is None else text_digest(self.text),
            "skill_chars": None if self.text is None else len(self.text),
            "suggestions": changes_to_json(self.suggestions),
        }


async def rewrite(
    context: StepContext, changes: Sequence[Change], teacher: Teacher, journal: Journal, max_chars: int = 0
) -> Rewrite:
    """Have the skill rewritten, once.

    The protected block is cut out before the call and put back afterwards. A reply that cannot be taken whole
    is a recorded failure, never a shorter skill.

    Args:
        context: What the call may see.
        changes: The selected suggestions.
        teacher: Who rewrites.
        journal: Where the reply is kept.
        max_chars: Longest skill in characters (`optimizer.max_skill_chars`); 0 is no bound.
    """
    outside = withheld(context)
    inputs = {
        "teacher": teacher.fingerprint,
        "context": context_key(outside),
        "changes": changes_to_json(changes),
    }

    async def call() -> tuple[str, str]:
        return await teacher.rewrite(outside, tuple(changes))

    text, cause, summary = await whole_skill(context, journal, Kept("rewrite", "summary", inputs), call, max_chars)
    return Rewrite(text, cause, summary, tuple(changes))


@dataclass(frozen=True, slots=True)
class Kept:
    """How a reply with a whole skill is kept.

    Attributes:
        name: Its name in the journal.
        words: The field for what the teacher says beside it.
        inputs: Everything that it depends on.
    """

    name: str
    words: str
    inputs: dict[str, Json]


def withheld(context: StepContext) -> StepContext:
    """Return what a call may see that writes a whole skill: all but the protected block."""
    return replace(context, skill=protected.cut(context.skill).outside)


async def whole_skill(
    context: StepContext, journal: Journal, kept: Kept, call: Callable[[], Awaitable[tuple[str, str]]], max_chars: int
) -> tuple[str | None, str | None, str]:
    """Have a whole skill written, once, and put the former one's protected block back.

    Args:
        context: What the call may see, with the former skill as it is.
        journal: Where the reply is kept.
        kept: How.
        call: Asks the teacher; returns the text and the teacher's words.
        max_chars: Longest skill in characters; 0 is no bound.

    Returns:
        The text, None if there is none to take; why there is none; the teacher's words.
    """

    async def make() -> dict[str, Json]:
        try:
            text, words = await call()
        except TeacherFailure as failure:
            return {"text": None, "cause": failure.cause, kept.words: str(failure)}
        return {"text": text, "cause": None, kept.words: words}

    data = await journal.once(kept.name, digest(kept.inputs), make)
    text, cause = restored(data["text"], data["cause"], protected.cut(context.skill), max_chars)
    return text, cause, data[kept.words]


def restored(
    body: str | None, cause: str | None, former: protected.Cut, max_chars: int
) -> tuple[str | None, str | None]:
    """Return the whole skill that a new body makes with the former's protected block, or None and why not."""
    if body is None:
        return None, cause
    if not body.strip():
        return None, "empty"
    changed = body.strip("\n") != former.outside.strip("\n")
    text = protected.put_back(body.strip("\n") + "\n" if changed else former.outside, former)
    if max_chars > 0 and len(text) > max_chars:
        return None, "too_long"
    return text, None
