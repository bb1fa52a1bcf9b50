"""At most the budget's number of changes is taken, and real support decides where the ranking does not."""

from __future__ import annotations

import asyncio

import pytest

from reflact.optimizer.select import Selection, select
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Change, Source

from .fakes import FakeTeacher, MemoryJournal, append, change, context, raising

CHANGES = (
    change(append("- 0"), ["a"], Source.SUCCESS),
    change(append("- 1"), ["a"], Source.FAILURE),
    change(append("- 2"), ["a", "b", "c"], Source.SUCCESS),
    change(append("- 3"), ["a", "b"], Source.FAILURE),
    change(append("- 4"), ["b"], Source.FAILURE),
)


def run(
    budget: int | None,
    teacher: FakeTeacher,
    changes: tuple[Change, ...] = CHANGES,
    journal: MemoryJournal | None = None,
) -> Selection:
    return asyncio.run(select(changes, budget, context(), teacher, journal or MemoryJournal()))


def ranking(*indices: object) -> FakeTeacher:
    return FakeTeacher(rank=lambda *_: indices)


@pytest.mark.parametrize("budget", [None, 5, 9])
def test_what_fits_is_taken_as_it_is_without_a_call(budget: int | None) -> None:
    teacher = FakeTeacher()
    assert run(budget, teacher).changes == CHANGES
    assert teacher.calls == []


def test_a_budget_of_zero_takes_nothing_without_a_call() -> None:
    teacher = FakeTeacher()
    selection = run(0, teacher)
    assert (selection.changes, teacher.calls) == ((), [])


def test_the_ranking_decides_choice_and_order() -> None:
    selection = run(2, ranking(4, 0, 1))
    assert selection.ranked == (4, 0)
    assert selection.changes == (CHANGES[4], CHANGES[0])
    assert not selection.fallback


def test_indices_that_name_nothing_or_repeat_are_dropped_and_counted() -> None:
    selection = run(2, ranking(9, -1, 4, 4, True, "1", 0))
    assert selection.ranked == (4, 0)
    assert selection.dropped == 5


def test_too_few_valid_indices_are_filled_up_by_real_support() -> None:
    selection = run(3, ranking(4))
    assert selection.ranked == (4, 2, 3)
    assert selection.fallback
    assert selection.cause is None


def test_a_failed_ranking_falls_back_to_support_then_failure_first_then_order() -> None:
    selection = run(4, FakeTeacher(rank=raising(TeacherFailure("truncated", "cut"))))
    assert selection.ranked == (2, 3, 1, 4)
    assert (selection.fallback, selection.cause) == (True, "truncated")


def test_support_counts_distinct_trajectories() -> None:
    changes = (change(append("- 0"), ["a", "a", "a"]), change(append("- 1"), ["a", "b"]))
    assert run(1, FakeTeacher(rank=raising(TeacherFailure("invalid", ""))), changes).ranked == (1,)


def test_a_resumed_ranking_is_not_paid_again_unless_the_changes_differ() -> None:
    teacher, journal = ranking(1, 2), MemoryJournal()
    assert run(2, teacher, journal=journal) == run(2, teacher, journal=journal)
    assert teacher.count("rank") == 1
    run(2, teacher, CHANGES[:4], journal)
    assert teacher.count("rank") == 2
