"""Full rewrite: each minibatch yields a whole draft of the skill, and merging the drafts yields the candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reflact.core.hashing import text_digest
from reflact.core.types import Json
from reflact.optimizer import protected
from reflact.optimizer.aggregate import Aggregate, aggregate
from reflact.optimizer.bodies import is_text
from reflact.optimizer.journal import Journal
from reflact.optimizer.rewrite import restored
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.types import Patch, StepContext


@dataclass(frozen=True, slots=True)
class FullRewrite:
    """The candidate that drafts were merged into.

    Attributes:
        text: The new skill with its protected block; None if there is none to take.
        cause: Why there is none (`no_draft`, `truncated`, `invalid`, `refused`, `empty`, `too_long` ...).
        drafts: Drafts that went in.
        aggregate: The merges.
    """

    text: str | None
    cause: str | None
    drafts: int
    aggregate: Aggregate

    def to_json(self) -> dict[str, Json]:
        """Return what `full_rewrite_result.json` holds; there is no edit budget in this mode."""
        support = self.aggregate.patch.changes[0].support if self.text is not None else ()
        return {
            "edit_budget": None,
            "cause": self.cause,
            "drafts": self.drafts,
            "reasoning": self.aggregate.patch.reasoning,
            "merges": [record.to_json() for record in self.aggregate.merges],
            "skill_sha256": None if self.text is None else text_digest(self.text),
            "skill_chars": None if self.text is None else len(self.text),
            "support_count": len(support),
            "support": list(support),
        }


async def full_rewrite(
    patches: Sequence[Patch],
    context: StepContext,
    teacher: Teacher,
    journal: Journal,
    batch_size: int,
    max_chars: int = 0,
) -> FullRewrite:
    """Merge the drafts of a step into one skill.

    The way is that of patches (sides apart, level by level, then both), but a merge that fails has no fallback:
    drafts cannot be concatenated, so the step records the cause and proposes nothing.

    Args:
        patches: One a minibatch, each with one draft, in order.
        context: What the calls may see; the protected block is withheld.
        teacher: Who merges.
        journal: Where merges are kept.
        batch_size: Most drafts of a call (`gradient.merge_batch_size`), at least 2.
        max_chars: Longest skill in characters (`optimizer.max_skill_chars`); 0 is no bound.
    """
    former = protected.cut(context.skill)
    outside = replace(context, skill=former.outside)
    drafts = [patch for patch in patches if patch.changes]
    merged = await aggregate(drafts, outside, teacher, journal, batch_size)
    cause = next((record.cause for record in merged.merges if record.cause is not None), None)
    if not merged.patch.changes:
        return FullRewrite(None, "no_draft", len(drafts), merged)
    if cause is not None:
        return FullRewrite(None, cause, len(drafts), merged)
    body = merged.patch.changes[0].body.get("skill")
    text, cause = restored(body, None, former, max_chars) if is_text(body) else (None, "empty")
    return FullRewrite(text, cause, len(drafts), merged)
