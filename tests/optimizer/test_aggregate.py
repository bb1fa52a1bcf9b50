"""Patches are merged side by side and level by level, and support stays real."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from reflact.optimizer.aggregate import Aggregate, aggregate
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Merge, MergedChange, Patch, Source, StepContext

from .fakes import FakeTeacher, MemoryJournal, append, context, patch, raising

F, S = Source.FAILURE, Source.SUCCESS


def run(
    patches: Sequence[Patch], teacher: FakeTeacher, batch_size: int = 2, journal: MemoryJournal | None = None
) -> Aggregate:
    return asyncio.run(aggregate(patches, context(), teacher, journal or MemoryJournal(), batch_size))


def one_from(*sources: int) -> object:
    return lambda *_: Merge("", (MergedChange(append("- merged"), sources),))


def test_no_patch_and_empty_patches_cost_nothing() -> None:
    teacher = FakeTeacher()
    assert run([], teacher).patch.changes == ()
    assert run([Patch("", ())], teacher).patch.changes == ()
    assert teacher.calls == []


def test_a_single_patch_is_passed_on_without_a_call() -> None:
    teacher = FakeTeacher()
    only = patch(F, ["a"])
    assert run([only, Patch("", ())], teacher).patch == only
    assert teacher.calls == []


def test_groups_of_two_make_a_tree_and_one_final_call() -> None:
    teacher = FakeTeacher()
    journal = MemoryJournal()
    patches = [patch(F, [f"f{number}"]) for number in range(5)] + [patch(S, [f"s{number}"]) for number in range(2)]
    result = run(patches, teacher, journal=journal)
    # Failures: 5 -> 3 (two calls) -> 2 (one) -> 1 (one); successes: 2 -> 1 (one); both: one.
    assert [record.name for record in result.merges] == [
        "failure_0_000",
        "failure_0_001",
        "failure_1_000",
        "failure_2_000",
        "success_0_000",
        "final",
    ]
    assert sorted(journal.made) == sorted(f"merges/{record.name}" for record in result.merges)
    assert len(result.patch.changes) == 7


def test_the_final_call_gets_failures_first_and_is_told_that_it_is_final() -> None:
    teacher = FakeTeacher()
    run([patch(S, ["s"]), patch(F, ["f"])], teacher)
    ((_, (_, patches, final)),) = teacher.calls
    assert [given.changes[0].source for given in patches] == [F, S]
    assert final is True


def test_one_side_alone_needs_no_final_call() -> None:
    teacher = FakeTeacher()
    run([patch(S, ["s1"]), patch(S, ["s2"])], teacher)
    assert [given[2] for _, given in teacher.calls] == [False]


def test_both_sides_are_reduced_at_the_same_time() -> None:
    class Meeting(FakeTeacher):
        """Its first two merges wait for each other."""

        def __init__(self) -> None:
            super().__init__()
            self.both = asyncio.Barrier(2)

        async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
            if not final:
                await asyncio.wait_for(self.both.wait(), 5)
            return await super().merge(context, patches, final)

    teacher = Meeting()
    run([patch(F, ["a"]), patch(F, ["b"]), patch(S, ["c"]), patch(S, ["d"])], teacher)
    assert teacher.count("merge") == 3


def test_support_is_the_union_of_the_named_changes_without_repetition() -> None:
    teacher = FakeTeacher(merge=one_from(0, 2))
    result = run([patch(F, ["a", "b"], ["c"]), patch(F, ["b", "d"])], teacher)
    (change,) = result.patch.changes
    assert change.support == ("a", "b", "d")


def test_a_change_made_from_both_sides_counts_as_failure() -> None:
    result = run([patch(F, ["a"]), patch(S, ["b"])], FakeTeacher(merge=one_from(1, 0)))
    assert result.patch.changes[0].source is F
    result = run([patch(F, ["a"]), patch(S, ["b"])], FakeTeacher(merge=one_from(1)))
    assert result.patch.changes[0].source is S


def test_sources_that_do_not_exist_are_dropped_and_counted() -> None:
    result = run([patch(F, ["a"]), patch(F, ["b"])], FakeTeacher(merge=one_from(1, 7, -1)))
    assert result.patch.changes[0].support == ("b",)
    assert result.merges[0].dropped_sources == 2


def test_a_change_that_names_no_source_gets_all_inputs_of_its_merge_and_no_more() -> None:
    patches = [patch(F, ["a"]), patch(F, ["b"]), patch(F, ["c"])]
    result = run(patches, FakeTeacher(merge=one_from()), batch_size=2)
    assert result.merges[0].unattributed == 1
    assert result.patch.changes[0].support == ("a", "b", "c")


@pytest.mark.parametrize("answer", [raising(TeacherFailure("invalid", "no")), lambda *_: Merge("", ())])
def test_a_merge_that_gives_nothing_falls_back_to_concatenation_failures_first(answer: object) -> None:
    result = run([patch(S, ["s"]), patch(F, ["f"])], FakeTeacher(merge=answer))  # type: ignore[arg-type]
    assert [change.source for change in result.patch.changes] == [F, S]
    assert result.fallback
    assert result.to_json()["fallback"] is True


def test_a_merge_that_works_is_no_fallback() -> None:
    assert not run([patch(F, ["a"]), patch(F, ["b"])], FakeTeacher()).fallback


def test_resumed_merges_are_not_paid_again() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    patches = [patch(F, ["a"]), patch(F, ["b"]), patch(S, ["c"])]
    assert run(patches, teacher, journal=journal) == run(patches, teacher, journal=journal)
    assert teacher.count("merge") == 2


def test_groups_of_one_would_never_end_and_are_refused() -> None:
    with pytest.raises(ValueError, match="groups of 1"):
        run([patch(F, ["a"])], FakeTeacher(), batch_size=1)


def test_when_one_merge_fails_for_good_the_others_are_not_left_running() -> None:
    class Slow(FakeTeacher):
        cancelled = False

        async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
            if patches[0].changes[0].source is F:
                raise ConnectionError("down")
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.cancelled = True
                raise
            raise AssertionError

    teacher = Slow()
    with pytest.raises(ConnectionError):
        run([patch(F, ["a"]), patch(F, ["b"]), patch(S, ["c"]), patch(S, ["d"])], teacher)
    assert teacher.cancelled
