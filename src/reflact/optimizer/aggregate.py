"""Aggregate: the patches of a step become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.types import Json
from reflact.optimizer.codec import patch_to_json
from reflact.optimizer.concurrency import together
from reflact.optimizer.journal import Journal
from reflact.optimizer.reduction import Merger, MergeRecord
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.types import Patch, Source, StepContext


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The merged patch of a step and the calls behind it.

    Attributes:
        patch: All changes that are left; empty if no patch held one.
        merges: The calls in order: failure side, success side, final one.
    """

    patch: Patch
    merges: tuple[MergeRecord, ...] = ()

    @property
    def fallback(self) -> bool:
        """Whether a merge failed and its inputs were concatenated instead."""
        return any(record.cause is not None for record in self.merges)

    def to_json(self) -> dict[str, Json]:
        """Return what `merged_patch.json` holds."""
        return {
            **patch_to_json(self.patch),
            "fallback": self.fallback,
            "merges": [record.to_json() for record in self.merges],
        }


async def aggregate(
    patches: Sequence[Patch], context: StepContext, teacher: Teacher, journal: Journal, batch_size: int
) -> Aggregate:
    """Merge patches.

    Failures and successes are reduced apart and side by side, in groups of `batch_size`, level by level; then
    one final call combines both sides if both have changes. Patches without changes cost nothing.

    Args:
        patches: In order: by minibatch, failures and successes in any mixture.
        context: What the calls may see.
        teacher: Who merges.
        journal: Where results are kept.
        batch_size: Most patches of a call (`gradient.merge_batch_size`), at least 2.
    """
    merger = Merger(context, teacher, journal, batch_size)
    failures, successes = sides(patches)
    (failure, failure_calls), (success, success_calls) = await together(
        [merger.reduce("failure", failures), merger.reduce("success", successes)]
    )
    merges = failure_calls + success_calls
    both = [patch for patch in (failure, success) if patch is not None]
    if not both:
        return Aggregate(Patch("", ()))
    patch, final = await merger.merge("final", both, final=True)
    return Aggregate(patch, merges if final is None else (*merges, final))


def sides(patches: Sequence[Patch]) -> tuple[list[Patch], list[Patch]]:
    """Return the patches with changes from failures and those from anything else, each in order."""
    filled = [patch for patch in patches if patch.changes]
    failures = [patch for patch in filled if patch.changes[0].source is Source.FAILURE]
    return failures, [patch for patch in filled if patch.changes[0].source is not Source.FAILURE]
