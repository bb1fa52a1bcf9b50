"""The teacher chooses the edit budget from the evidence, or the scheduler's value stands and says so."""

from __future__ import annotations

import asyncio
import json

import pytest

from reflact.optimizer.lr_control import LrDecision, choose
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Evidence, LearningRate

from .fakes import FakeTeacher, MemoryJournal, append, change, context, raising

EVIDENCE = Evidence(8, 0.5, 0.6, tuple(change(append(f"- {number}")) for number in range(3)))


def run(teacher: FakeTeacher, journal: MemoryJournal | None = None) -> LrDecision:
    return asyncio.run(choose(EVIDENCE, context(), teacher, journal or MemoryJournal(), scheduled=4))


@pytest.mark.parametrize(("wanted", "given", "clamped"), [(0, 0, False), (2, 2, False), (3, 3, False), (9, 3, True)])
def test_the_choice_is_clamped_to_the_number_of_edits(wanted: int, given: int, clamped: bool) -> None:
    decision = run(FakeTeacher(choose=lambda *_: LearningRate(wanted, "why", "high", "none")))
    assert (decision.learning_rate, decision.clamped, decision.fallback) == (given, clamped, False)


def test_a_failed_call_takes_the_schedulers_value_and_says_so() -> None:
    decision = run(FakeTeacher(choose=raising(TeacherFailure("invalid", "no number"))))
    assert (decision.learning_rate, decision.fallback, decision.cause) == (4, True, "invalid")
    assert decision.to_json()["message"] == "no number"


def test_the_call_learns_of_no_default_and_no_cap() -> None:
    teacher = FakeTeacher()
    run(teacher)
    ((_, (seen, evidence)),) = teacher.calls
    assert seen.cap is None
    assert evidence == EVIDENCE


def test_the_decision_is_json_and_is_paid_once() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    first, second = run(teacher, journal), run(teacher, journal)
    assert first == second
    assert teacher.count("choose") == 1
    assert json.loads(json.dumps(first.to_json()))["reply"]["confidence"] == "low"
