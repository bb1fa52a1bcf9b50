"""Reducing patches by merge calls, a group at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer.codec import context_key, patch_from_json, patch_to_json
from reflact.optimizer.concurrency import together
from reflact.optimizer.journal import Journal
from reflact.optimizer.provenance import joint_source, union
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Change, Merge, Patch, StepContext


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """One merge call.

    Attributes:
        name: Name of the call within its step.
        inputs: Changes that went in.
        outputs: Changes that came out.
        dropped_sources: Indices named as sources that no input has.
        unattributed: Merged changes that named no valid source.
        cause: Why the call gave nothing usable, None if it did.
        message: The cause in words.
    """

    name: str
    inputs: int
    outputs: int
    dropped_sources: int = 0
    unattributed: int = 0
    cause: str | None = None
    message: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the record as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Merger:
    """Merge calls of one step, each made once.

    Attributes:
        context: What the calls may see.
        teacher: Who merges.
        journal: Where results are kept.
        batch_size: Most patches of a call, at least 2.
    """

    context: StepContext
    teacher: Teacher
    journal: Journal
    batch_size: int

    def __post_init__(self) -> None:
        if self.batch_size < 2:
            raise ValueError(f"merging in groups of {self.batch_size} never ends")

    async def reduce(self, side: str, patches: Sequence[Patch]) -> tuple[Patch | None, tuple[MergeRecord, ...]]:
        """Merge patches level by level until one is left; a group of one is passed on without a call.

        Args:
            side: Name of the side, for the calls' names.
            patches: Patches with changes, in order.
        """
        left = list(patches)
        records: list[MergeRecord] = []
        level = 0
        while len(left) > 1:
            groups = [left[start : start + self.batch_size] for start in range(0, len(left), self.batch_size)]
            results = await together(
                self.merge(f"{side}_{level}_{index:03d}", group, final=False) for index, group in enumerate(groups)
            )
            left = [patch for patch, _ in results]
            records += [record for _, record in results if record is not None]
            level += 1
        return (left[0] if left else None), tuple(records)

    async def merge(self, name: str, patches: Sequence[Patch], *, final: bool) -> tuple[Patch, MergeRecord | None]:
        """Merge patches in one call, or return the only one as it is.

        A call that gives nothing usable falls back to the concatenation of its inputs.
        """
        if len(patches) == 1:
            return patches[0], None

        async def make() -> dict[str, Json]:
            inputs = [change for patch in patches for change in patch.changes]
            try:
                reply = await self.teacher.merge(self.context, tuple(patches), final)
            except TeacherFailure as failure:
                patch, record = concatenation(name, patches, failure.cause, str(failure))
            else:
                patch, record = attributed(name, inputs, reply)
                if not patch.changes:
                    patch, record = concatenation(name, patches, "empty_merge", "the merge held no change")
            return {"patch": patch_to_json(patch), "record": record.to_json()}

        shown = {
            "teacher": self.teacher.fingerprint,
            "context": context_key(self.context),
            "final": final,
            "patches": [patch_to_json(patch) for patch in patches],
        }
        data = await self.journal.once(f"merges/{name}", digest(shown), make)
        return patch_from_json(data["patch"]), MergeRecord(**data["record"])


def concatenation(name: str, patches: Sequence[Patch], cause: str, message: str) -> tuple[Patch, MergeRecord]:
    """Put patches one after the other in the order given, and record why."""
    changes = tuple(change for patch in patches for change in patch.changes)
    reasoning = "\n\n".join(patch.reasoning for patch in patches if patch.reasoning)
    record = MergeRecord(name, len(changes), len(changes), cause=cause, message=message)
    return Patch(reasoning, changes), record


def attributed(name: str, inputs: Sequence[Change], reply: Merge) -> tuple[Patch, MergeRecord]:
    """Give each merged change the provenance of the inputs that it names.

    Support is the union of theirs. A change that names no valid input was still made from nothing but these
    inputs, so it gets the union of all of them, as an analyst's change gets its whole minibatch.
    """
    changes: list[Change] = []
    dropped = unattributed = 0
    for merged in reply.changes:
        valid = list(dict.fromkeys(index for index in merged.sources if 0 <= index < len(inputs)))
        dropped += sum(not 0 <= index < len(inputs) for index in merged.sources)
        unattributed += not valid
        origins = [inputs[index] for index in sorted(valid)] if valid else list(inputs)
        support = union(change.support for change in origins)
        changes.append(Change(dict(merged.body), joint_source(origins), support))
    record = MergeRecord(name, len(inputs), len(changes), dropped, unattributed)
    return Patch(reply.reasoning, tuple(changes)), record
