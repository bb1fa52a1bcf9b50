"""Reflect: trajectories are cut in minibatches, and each minibatch becomes a patch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer import protected
from reflact.optimizer.bodies import is_usable
from reflact.optimizer.codec import (
    context_key,
    failure_types_from_json,
    patch_from_json,
    patch_to_json,
    refs_key,
)
from reflact.optimizer.journal import Journal
from reflact.optimizer.provenance import union
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import (
    Analysis,
    Change,
    FailureType,
    Patch,
    Source,
    StepContext,
    TrajectoryRef,
    UpdateMode,
)


@dataclass(frozen=True, slots=True)
class Minibatch:
    """The trajectories of one analyst call, all failures or all successes, in batch order.

    Attributes:
        name: `failure_000`, `success_000` ...; unique in a micro-batch.
        source: Failures or successes.
        members: The trajectories.
        index: Its number among those of its source.
    """

    name: str
    source: Source
    members: tuple[TrajectoryRef, ...]
    index: int = 0

    @property
    def place(self) -> tuple[bool, int]:
        """Sorts the minibatches of a micro-batch: failures first, then by number."""
        return (self.source is not Source.FAILURE, self.index)


class Minibatcher:
    """Cuts a batch in minibatches while its rows come in.

    Trajectories are added in batch order, whatever the order in which they finished: a minibatch is full as soon
    as its members are known, so its analysis can begin while the rest of the batch is still rolled out.
    """

    def __init__(self, size: int, failure_only: bool, prefix: str = "") -> None:
        """Prepare for one batch.

        Args:
            size: Trajectories of a minibatch (`gradient.minibatch_size`).
            failure_only: Leave successes out (`gradient.failure_only`).
            prefix: Put before each minibatch's name, where several batches share a step.
        """
        if size < 1:
            raise ValueError(f"a minibatch of {size}")
        self._size = size
        self._sources = (Source.FAILURE,) if failure_only else (Source.FAILURE, Source.SUCCESS)
        self._prefix = prefix
        self._open: dict[Source, list[TrajectoryRef]] = {source: [] for source in self._sources}
        self._count = dict.fromkeys(self._sources, 0)

    def add(self, ref: TrajectoryRef) -> tuple[Minibatch, ...]:
        """Take the batch's next scored trajectory; return the minibatch that it completes, if it does.

        `hard == 0` is a failure, everything else a success. Rows without a score are not added.
        """
        source = Source.FAILURE if ref.hard == 0 else Source.SUCCESS
        if source not in self._open:
            return ()
        self._open[source].append(ref)
        return (self._close(source),) if len(self._open[source]) == self._size else ()

    def finish(self) -> tuple[Minibatch, ...]:
        """Return the minibatches that are not full, failures first."""
        return tuple(self._close(source) for source in self._sources if self._open[source])

    def _close(self, source: Source) -> Minibatch:
        members = tuple(self._open[source])
        index = self._count[source]
        self._open[source] = []
        self._count[source] += 1
        return Minibatch(f"{self._prefix}{source.value}_{index:03d}", source, members, index)


@dataclass(frozen=True, slots=True)
class AnalysisRecord:
    """What one minibatch gave.

    Attributes:
        name: The minibatch's name.
        source: Failures or successes.
        members: Ids of its trajectories.
        patch: The changes with their provenance; None if the analyst gave nothing usable.
        failure_types: Kinds of failure as the analyst counted them, counts clipped to the minibatch's size.
        success_patterns: What went well, in the analyst's words.
        dropped: Changes beyond the cap.
        invalid: Changes that cannot be carried out as they stand; edits among them stay in the patch, so that
            the edit report shows them.
        cause: Why there is no patch (`refused`, `invalid`, `truncated`, `no_draft` ...), else None.
        message: The cause in words.
    """

    name: str
    source: Source
    members: tuple[str, ...]
    patch: Patch | None
    failure_types: tuple[FailureType, ...] = ()
    success_patterns: tuple[str, ...] = ()
    dropped: int = 0
    invalid: int = 0
    cause: str | None = None
    message: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the record as a JSON object."""
        return {
            "name": self.name,
            "source": self.source.value,
            "members": list(self.members),
            "patch": None if self.patch is None else patch_to_json(self.patch),
            "failure_types": [asdict(kind) for kind in self.failure_types],
            "success_patterns": list(self.success_patterns),
            "dropped": self.dropped,
            "invalid": self.invalid,
            "cause": self.cause,
            "message": self.message,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> AnalysisRecord:
        """Read a record written by `to_json`."""
        return cls(
            name=data["name"],
            source=Source(data["source"]),
            members=tuple(data["members"]),
            patch=None if data["patch"] is None else patch_from_json(data["patch"]),
            failure_types=failure_types_from_json(data["failure_types"]),
            success_patterns=tuple(data["success_patterns"]),
            dropped=data["dropped"],
            invalid=data["invalid"],
            cause=data["cause"],
            message=data["message"],
        )


async def analyse(minibatch: Minibatch, context: StepContext, teacher: Teacher, journal: Journal) -> AnalysisRecord:
    """Have a minibatch analysed, once.

    A reply that is not usable is recorded with its cause; it never ends the step. In full-rewrite mode the
    analyst sees the skill without its protected block, because what it writes replaces the rest.
    """
    if context.mode is UpdateMode.FULL_REWRITE:
        context = replace(context, skill=protected.cut(context.skill).outside)

    async def make() -> dict[str, Json]:
        try:
            analysis = await teacher.analyse(context, minibatch.source, minibatch.members)
        except TeacherFailure as failure:
            return _failed(minibatch, failure.cause, str(failure)).to_json()
        return _record(minibatch, context, analysis).to_json()

    inputs = {
        "teacher": teacher.fingerprint,
        "context": context_key(context),
        "source": minibatch.source.value,
        "members": refs_key(minibatch.members),
    }
    return AnalysisRecord.from_json(await journal.once(f"patches/{minibatch.name}", digest(inputs), make))


def _failed(minibatch: Minibatch, cause: str, message: str) -> AnalysisRecord:
    members = union([[ref.id for ref in minibatch.members]])
    return AnalysisRecord(minibatch.name, minibatch.source, members, None, cause=cause, message=message)


def _record(minibatch: Minibatch, context: StepContext, analysis: Analysis) -> AnalysisRecord:
    """Attach provenance, apply the cap and count what is left out."""
    members = union([[ref.id for ref in minibatch.members]])
    bodies = [dict(body) for body in analysis.changes]
    invalid = sum(not is_usable(context.mode, body) for body in bodies)
    if context.mode is not UpdateMode.PATCH:
        bodies = [body for body in bodies if is_usable(context.mode, body)]
    cap = 1 if context.mode is UpdateMode.FULL_REWRITE else context.cap
    kept = bodies if cap is None else bodies[:cap]
    if context.mode is UpdateMode.FULL_REWRITE and not kept:
        failed = _failed(minibatch, "no_draft", "the reply held no skill")
        return replace(failed, failure_types=_clipped(analysis, len(members)), invalid=invalid)
    changes = tuple(Change(body, minibatch.source, members) for body in kept)
    return AnalysisRecord(
        name=minibatch.name,
        source=minibatch.source,
        members=members,
        patch=Patch(analysis.reasoning, changes),
        failure_types=_clipped(analysis, len(members)),
        success_patterns=analysis.success_patterns,
        dropped=len(bodies) - len(kept),
        invalid=invalid,
    )


def _clipped(analysis: Analysis, size: int) -> tuple[FailureType, ...]:
    """Return failure types with counts in 1..size; a kind counted zero times is none."""
    return tuple(replace(kind, count=min(kind.count, size)) for kind in analysis.failure_types if kind.count > 0)
