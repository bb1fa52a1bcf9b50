"""The step buffer tells what was tried, and never how it scored."""

from __future__ import annotations

import json

from reflact.core.names import Action
from reflact.optimizer.buffer import buffer_entry, render
from reflact.optimizer.codec import buffer_entry_from_json, buffer_entry_to_json
from reflact.optimizer.reflect import AnalysisRecord
from reflact.optimizer.types import BufferEntry, FailureType, Source

from .fakes import append


def record(*kinds: FailureType) -> AnalysisRecord:
    return AnalysisRecord("failure_000", Source.FAILURE, ("a",), None, failure_types=kinds)


def entry(action: Action = Action.REJECT) -> BufferEntry:
    return buffer_entry(
        step=3,
        action=action,
        hards=[0.0, 0.35, 1.0, 0.0],
        records=[
            record(FailureType("Wrong unit", 1, "kg for g"), FailureType("late", 1, "slow")),
            record(FailureType(" wrong UNIT", 2, "other words")),
        ],
        rejected=[append("- new rule"), {"op": "replace", "target": "x" * 2000, "content": "y"}],
    )


def test_failures_are_counted_and_failure_types_added_up() -> None:
    made = entry()
    assert (made.n, made.failures) == (4, 2)
    assert made.failure_types == (FailureType("Wrong unit", 3, "kg for g"), FailureType("late", 1, "slow"))


def test_edits_are_kept_of_rejected_steps_only() -> None:
    assert len(entry(Action.REJECT).rejected_edits) == 2
    for action in Action:
        if action is not Action.REJECT:
            assert entry(action).rejected_edits == ()


def test_a_reader_sees_that_rejected_edits_were_not_better_and_long_texts_are_cut() -> None:
    text = render([entry()])
    assert "tried and not better than the current skill" in text
    assert "new rule" in text
    assert "Wrong unit (3): kg for g" in text
    assert len(text) < 1200


def test_no_steps_no_text() -> None:
    assert render([]) == ""


def test_an_entry_survives_a_resume() -> None:
    made = entry()
    assert buffer_entry_from_json(json.loads(json.dumps(buffer_entry_to_json(made)))) == made
