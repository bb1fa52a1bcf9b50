"""A deep reflect looks at few items, of as many task types as it can."""

from __future__ import annotations

import asyncio

from reflact.optimizer.deep_reflect import Diagnosis, diagnose, representatives
from reflact.optimizer.teacher import TeacherFailure

from .fakes import FakeTeacher, MemoryJournal, context, raising, ref

REFS = [
    ref("f1", 0, "x"),
    ref("f2", 0, "x"),
    ref("s1", 1, "x"),
    ref("f3", 0, "y"),
    ref("s2", 1, "x"),
    ref("s3", 1, "y"),
    ref("f4", 0, "z"),
]


def ids(failures: int, successes: int) -> list[str]:
    return [one.id for one in representatives(REFS, failures, successes)]


def test_one_of_each_task_type_comes_first_and_the_result_is_in_batch_order() -> None:
    assert ids(3, 0) == ["f1", "f3", "f4"]
    assert ids(4, 2) == ["f1", "f2", "s1", "f3", "s3", "f4"]


def test_zero_takes_none_and_more_than_there_are_takes_all() -> None:
    assert ids(0, 0) == []
    assert ids(99, 99) == [one.id for one in REFS]


def test_no_representative_no_call() -> None:
    teacher = FakeTeacher()
    assert asyncio.run(diagnose([], context(), teacher, MemoryJournal())).instruction is None
    assert teacher.calls == []


def test_a_diagnosis_is_paid_once() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    for _ in range(2):
        result = asyncio.run(diagnose(REFS, context(), teacher, journal))
        assert result == Diagnosis("Say which rule you used.")
    assert teacher.count("diagnose") == 1


def test_a_failed_or_empty_diagnosis_leaves_the_deep_reflect_out() -> None:
    failed = FakeTeacher(diagnose=raising(TeacherFailure("refused", "no")))
    assert asyncio.run(diagnose(REFS, context(), failed, MemoryJournal())).cause == "refused"
    assert (
        asyncio.run(diagnose(REFS, context(), FakeTeacher(diagnose=lambda *_: " "), MemoryJournal())).cause == "empty"
    )
