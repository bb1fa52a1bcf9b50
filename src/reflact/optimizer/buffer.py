"""The step buffer: what earlier steps of an epoch tried and what came of it, for the teacher's eyes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from reflact.core.names import Action
from reflact.core.types import Json
from reflact.optimizer.reflect import AnalysisRecord
from reflact.optimizer.types import BufferEntry, FailureType

_MOST_TYPES = 12
_EDIT_CHARS = 400


def buffer_entry(
    *,
    step: int,
    action: str,
    hards: Sequence[float],
    records: Iterable[AnalysisRecord],
    rejected: Iterable[Mapping[str, Json]] = (),
) -> BufferEntry:
    """Describe a finished step.

    Args:
        step: The global step.
        action: What the step did to the skill.
        hards: Pass/fail scores of the rollout's scored rows.
        records: The step's analyses.
        rejected: Bodies of the changes tried; kept only if the candidate was rejected.
    """
    tried = tuple(_shortened(body) for body in rejected) if action == Action.REJECT else ()
    return BufferEntry(
        step=step,
        action=action,
        n=len(hards),
        failures=sum(hard == 0 for hard in hards),
        failure_types=merged_types(kind for record in records for kind in record.failure_types),
        rejected_edits=tried,
    )


def merged_types(kinds: Iterable[FailureType]) -> tuple[FailureType, ...]:
    """Add up kinds of failure that have the same name, most frequent first; the first description stays.

    Names are compared without case and without blanks around them. The dozen most frequent are kept.
    """
    merged: dict[str, FailureType] = {}
    for kind in kinds:
        name = kind.failure_type.strip().casefold()
        former = merged.get(name)
        if former is None:
            merged[name] = kind
        else:
            merged[name] = FailureType(former.failure_type, former.count + kind.count, former.description)
    return tuple(sorted(merged.values(), key=lambda kind: -kind.count)[:_MOST_TYPES])


def render(buffer: Sequence[BufferEntry]) -> str:
    """Return the buffer as Markdown, `""` if it is empty.

    Rejected edits are marked as not better than the current skill, without a score: what a teacher sees must
    not depend on how far a hopeless candidate was measured.
    """
    return "\n\n".join(_render_entry(entry) for entry in buffer)


def _render_entry(entry: BufferEntry) -> str:
    lines = [f"Step {entry.step}: {entry.action}; {entry.failures} of {entry.n} trajectories failed."]
    lines += [f"- failure type: {kind.failure_type} ({kind.count}): {kind.description}" for kind in entry.failure_types]
    if entry.rejected_edits:
        lines.append("- tried and not better than the current skill:")
        lines += [f"  - {_render_edit(edit)}" for edit in entry.rejected_edits]
    return "\n".join(lines)


def _render_edit(edit: Mapping[str, Json]) -> str:
    shown = {name: value for name, value in edit.items() if value is not None}
    return json.dumps(shown, ensure_ascii=False)


def _shortened(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return a change's body with long texts cut, so that the buffer stays small."""
    return {
        name: f"{value[:_EDIT_CHARS]}…" if isinstance(value, str) and len(value) > _EDIT_CHARS else value
        for name, value in body.items()
    }
