"""How trajectories and changes look in a prompt: None-safe and bounded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from reflact.core.types import Json, Turn
from reflact.optimizer.types import Change, Pair, Patch, Source, Trajectory

SOURCE_LABELS = {
    Source.FAILURE: "from failed trajectories",
    Source.SUCCESS: "from successful trajectories",
    Source.HISTORY: "from the epoch's history",
}
_NO_TEXT = "(no text)"
LEAST_CHARS = 600
"""Below this a trajectory shows too little of what happened."""
# Shares of a trajectory's room that its header's fields may take; the conversation gets what is left.
_QUESTION, _FIELD, _LABEL = 0.25, 0.125, 0.05


def cut_middle(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text: its head and its tail, with a remark on what is left out."""
    if len(text) <= limit:
        return text
    remark = f"\n[... {len(text)} characters in all, the middle is left out ...]\n"
    room = limit - len(remark)
    if room <= 0:
        return text[: max(limit, 0)]
    tail = room // 2
    return text[: room - tail] + remark + (text[-tail:] if tail else "")


def share_room(room: int, most: int, count: int) -> tuple[int, int]:
    """Return (characters of each, how many) when `count` trajectories share the room of one call.

    Each gets at most `most` and at least `LEAST_CHARS`; where not even that is there for all, the first ones are
    shown.
    """
    each = max(min(most, room // max(count, 1)), min(most, LEAST_CHARS))
    return each, min(count, max(1, room // each))


def show_trajectory(trajectory: Trajectory, limit: int) -> str:
    """Return a trajectory as text of at most `limit` characters: a header, then the conversation.

    Fields that are None are left out of the header; the gold answers are there only if the trajectory has them.
    """
    header = [
        f"{name}: {cut_middle(value, int(limit * share))}"
        for name, value, share in _fields(trajectory)
        if value is not None
    ]
    head = "\n".join(header) + "\n\n"
    conversation = show_conversation(trajectory.conversation)
    shown = cut_middle(conversation, max(limit - len(head), 0))
    return cut_middle(head + shown, limit)


def show_conversation(turns: Iterable[Turn]) -> str:
    """Return a conversation as text, one turn after the other."""
    return "\n\n".join(f"[{turn.role}]\n{turn.content if turn.content else _NO_TEXT}" for turn in turns)


def show_change(change: Change) -> str:
    """Return a change as JSON with what it comes from; ids of trajectories are of no use to a teacher."""
    return _json({**change.body, "from": change.source.value, "support_count": len(change.support)})


def show_changes(changes: Sequence[Change]) -> list[str]:
    """Return changes as texts, in order."""
    return [show_change(change) for change in changes]


def show_patches(patches: Sequence[Patch]) -> list[dict[str, str]]:
    """Return patches as labelled texts, their changes numbered through all of them from 0."""
    sides: list[dict[str, str]] = []
    number = 0
    for patch in patches:
        lines = []
        for change in patch.changes:
            lines.append(_json({"number": number, **change.body, "support_count": len(change.support)}))
            number += 1
        sides.append({"label": SOURCE_LABELS[patch.changes[0].source], "text": "\n".join(lines)})
    return sides


def show_drafts(patches: Sequence[Patch]) -> list[dict[str, Json]]:
    """Return the drafts of patches with neutral labels, numbered from 0."""
    changes = [change for patch in patches for change in patch.changes]
    return [
        {"number": number, "label": SOURCE_LABELS[change.source], "text": change.body.get("skill")}
        for number, change in enumerate(changes)
    ]


def show_pair(pair: Pair, limit: int) -> dict[str, str]:
    """Return a pair with both trajectories in the room of one, so that a comparison is no longer than a batch."""
    half = limit // 2
    return {
        "kind": pair.kind.value,
        "previous": show_trajectory(pair.previous.load(), half),
        "current": show_trajectory(pair.current.load(), half),
    }


def show_records(records: Iterable[Mapping[str, Json]]) -> str:
    """Return history records as lines of JSON."""
    return "\n".join(_json(dict(record)) for record in records)


def _fields(trajectory: Trajectory) -> list[tuple[str, str | None, float]]:
    """Return the header's fields with the share of the room that each may take."""
    gold = None if trajectory.gold is None else _json(list(trajectory.gold))
    return [
        ("id", trajectory.id, _LABEL),
        ("task", trajectory.question, _QUESTION),
        ("type", trajectory.task_type or None, _LABEL),
        ("result", f"{'failed' if trajectory.hard == 0 else 'passed'}, partial credit {trajectory.soft:.3f}", 1),
        ("fail reason", trajectory.fail_reason, _FIELD),
        ("turns", str(trajectory.n_turns), 1),
        ("answer given", trajectory.predicted_answer, _FIELD),
        ("accepted answers", gold, _FIELD),
    ]


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
