"""Changes, patches and buffer entries as JSON, and the keys that stages are remembered under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer.types import (
    BufferEntry,
    Change,
    FailureType,
    Patch,
    Source,
    StepContext,
    TrajectoryRef,
)


def change_to_json(change: Change) -> dict[str, Json]:
    """Return a change as a JSON object."""
    return {
        "body": dict(change.body),
        "source": change.source.value,
        "support_count": len(change.support),
        "support": list(change.support),
    }


def change_from_json(data: Mapping[str, Json]) -> Change:
    """Read a change written by `change_to_json`."""
    return Change(dict(data["body"]), Source(data["source"]), tuple(data["support"]))


def changes_to_json(changes: Iterable[Change]) -> list[dict[str, Json]]:
    """Return changes as a JSON list."""
    return [change_to_json(change) for change in changes]


def changes_from_json(data: Iterable[Mapping[str, Json]]) -> tuple[Change, ...]:
    """Read a list written by `changes_to_json`."""
    return tuple(change_from_json(item) for item in data)


def patch_to_json(patch: Patch) -> dict[str, Json]:
    """Return a patch as a JSON object."""
    return {"reasoning": patch.reasoning, "changes": changes_to_json(patch.changes)}


def patch_from_json(data: Mapping[str, Json]) -> Patch:
    """Read a patch written by `patch_to_json`."""
    return Patch(data["reasoning"], changes_from_json(data["changes"]))


def failure_types_from_json(data: Iterable[Mapping[str, Json]]) -> tuple[FailureType, ...]:
    """Read failure types written as objects of their fields."""
    return tuple(FailureType(item["failure_type"], item["count"], item["description"]) for item in data)


def buffer_entry_to_json(entry: BufferEntry) -> dict[str, Json]:
    """Return a step buffer entry as a JSON object."""
    data = asdict(entry)
    data["failure_types"] = list(data["failure_types"])
    data["rejected_edits"] = [dict(edit) for edit in entry.rejected_edits]
    return data


def buffer_entry_from_json(data: Mapping[str, Json]) -> BufferEntry:
    """Read an entry written by `buffer_entry_to_json`."""
    return BufferEntry(
        step=data["step"],
        action=data["action"],
        n=data["n"],
        failures=data["failures"],
        failure_types=failure_types_from_json(data["failure_types"]),
        rejected_edits=tuple(dict(edit) for edit in data["rejected_edits"]),
    )


def context_key(context: StepContext) -> str:
    """Return a hash over everything in a step's context that can shape a reply."""
    return digest(
        {
            "skill": context.skill,
            "mode": context.mode.value,
            "cap": context.cap,
            "buffer": [buffer_entry_to_json(entry) for entry in context.buffer],
            "meta_skill": context.meta_skill,
            "seed": context.seed,
        }
    )


def refs_key(refs: Sequence[TrajectoryRef]) -> list[list[Json]]:
    """Return ids, scores and content hashes of trajectories, in order."""
    return [[ref.id, ref.hard, ref.digest] for ref in refs]
