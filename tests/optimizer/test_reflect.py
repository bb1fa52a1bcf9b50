"""Minibatches follow the batch's order, and what an analyst replies gets real provenance."""

from __future__ import annotations

import asyncio

import pytest

from reflact.optimizer.protected import ensure_block
from reflact.optimizer.reflect import AnalysisRecord, Minibatch, Minibatcher, analyse
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Analysis, FailureType, Source, TrajectoryRef, UpdateMode

from .fakes import SKILL, FakeTeacher, MemoryJournal, append, context, raising, ref


def cut(refs: list[TrajectoryRef], size: int, failure_only: bool = False) -> list[tuple[str, list[str]]]:
    minibatcher = Minibatcher(size, failure_only)
    made = [minibatch for one in refs for minibatch in minibatcher.add(one)]
    made += minibatcher.finish()
    return [(minibatch.name, [member.id for member in minibatch.members]) for minibatch in made]


def test_failures_and_successes_are_grouped_apart_in_batch_order() -> None:
    refs = [ref("a"), ref("b", 1), ref("c"), ref("d"), ref("e", 1), ref("f", 1), ref("g")]
    assert cut(refs, 2) == [
        ("failure_000", ["a", "c"]),
        ("success_000", ["b", "e"]),
        ("failure_001", ["d", "g"]),
        ("success_001", ["f"]),
    ]


def test_a_minibatch_is_there_as_soon_as_its_last_member_is_known() -> None:
    minibatcher = Minibatcher(2, failure_only=False)
    assert minibatcher.add(ref("a")) == ()
    assert [minibatch.name for minibatch in minibatcher.add(ref("b"))] == ["failure_000"]
    assert minibatcher.finish() == ()


def test_minibatches_sort_by_number_however_many_there_are() -> None:
    minibatcher = Minibatcher(1, failure_only=False)
    made = [minibatch for number in range(2200) for minibatch in minibatcher.add(ref(str(number), number % 2))]
    ordered = [minibatch.members[0].id for minibatch in sorted(made, key=lambda minibatch: minibatch.place)]
    assert ordered == [str(number) for number in (*range(0, 2200, 2), *range(1, 2200, 2))]


def test_failure_only_drops_successes() -> None:
    assert cut([ref("a", 1), ref("b")], 1, failure_only=True) == [("failure_000", ["b"])]


def test_only_a_pass_fail_score_of_zero_is_a_failure() -> None:
    refs = [ref("zero", 0.0), ref("some", 0.35), ref("more", 0.75), ref("all", 1.0)]
    assert cut(refs, 4) == [("failure_000", ["zero"]), ("success_000", ["some", "more", "all"])]


def test_partial_credit_does_not_make_a_failed_item_a_success() -> None:
    assert cut([ref("partial", 0.0, soft=0.75)], 1) == [("failure_000", ["partial"])]


def test_a_minibatch_size_of_zero_is_refused_not_replaced() -> None:
    with pytest.raises(ValueError, match="minibatch of 0"):
        Minibatcher(0, failure_only=False)


MINIBATCH = Minibatch("failure_000", Source.FAILURE, (ref("a"), ref("b")))


def run(teacher: FakeTeacher, minibatch: Minibatch = MINIBATCH, **fields: object) -> AnalysisRecord:
    return asyncio.run(analyse(minibatch, context(**fields), teacher, MemoryJournal()))  # type: ignore[arg-type]


def test_changes_get_source_and_support_from_the_minibatch_whatever_the_model_says() -> None:
    lie = {**append("- x"), "source_type": "success", "support": ["z"] * 9}
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", (lie,))))
    assert record.patch is not None
    (change,) = record.patch.changes
    assert (change.source, change.support) == (Source.FAILURE, ("a", "b"))


def test_changes_beyond_the_cap_are_dropped_and_counted() -> None:
    bodies = tuple(append(f"- {number}") for number in range(5))
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", bodies)), cap=2)
    assert record.patch is not None
    assert (len(record.patch.changes), record.dropped) == (2, 3)


def test_without_a_cap_everything_is_kept() -> None:
    bodies = tuple(append(f"- {number}") for number in range(50))
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", bodies)), cap=None)
    assert record.patch is not None
    assert (len(record.patch.changes), record.dropped) == (50, 0)


def test_a_cap_of_zero_keeps_nothing() -> None:
    record = run(FakeTeacher(), cap=0)
    assert record.patch is not None
    assert (record.patch.changes, record.dropped) == ((), 1)


def test_counts_of_failure_types_cannot_exceed_the_minibatch() -> None:
    kinds = (FailureType("x", 99, "d"), FailureType("y", 1, "d"), FailureType("z", 0, "d"), FailureType("w", -3, "d"))
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", (), kinds)))
    assert [(kind.failure_type, kind.count) for kind in record.failure_types] == [("x", 2), ("y", 1)]


def test_malformed_edits_are_counted_and_left_for_the_edit_report() -> None:
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", ({"op": "burn"}, append("- x")))))
    assert record.patch is not None
    assert (len(record.patch.changes), record.invalid) == (2, 1)


def test_malformed_suggestions_are_counted_and_dropped() -> None:
    bodies = ({"type": "add_rule", "title": "", "motivation": "", "instruction": "do"}, {"type": "burn"})
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", bodies)), mode=UpdateMode.SUGGESTIONS)
    assert record.patch is not None
    assert (len(record.patch.changes), record.invalid) == (1, 1)


def test_a_failed_call_is_recorded_and_does_not_end_the_step() -> None:
    record = run(FakeTeacher(analyse=raising(TeacherFailure("refused", "content filter"))))
    assert (record.patch, record.cause, record.message) == (None, "refused", "content filter")
    assert record.members == ("a", "b")


def test_failures_of_the_service_are_not_swallowed() -> None:
    with pytest.raises(ConnectionError):
        run(FakeTeacher(analyse=raising(ConnectionError("down"))))


def test_a_draft_is_one_whole_skill_and_its_writer_does_not_see_the_protected_block() -> None:
    teacher = FakeTeacher(analyse=lambda *_: Analysis("", ({"skill": "# New\n"}, {"skill": "# Other\n"})))
    record = run(teacher, mode=UpdateMode.FULL_REWRITE, skill=ensure_block(SKILL))
    assert record.patch is not None
    assert [dict(change.body) for change in record.patch.changes] == [{"skill": "# New\n"}]
    assert "slow-update" not in teacher.calls[0][1][0].skill


def test_an_empty_draft_is_no_draft() -> None:
    record = run(FakeTeacher(analyse=lambda *_: Analysis("", ({"skill": " "},))), mode=UpdateMode.FULL_REWRITE)
    assert (record.patch, record.cause) == (None, "no_draft")


def test_a_resumed_step_pays_once_and_gets_the_same_record() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    first = asyncio.run(analyse(MINIBATCH, context(), teacher, journal))
    second = asyncio.run(analyse(MINIBATCH, context(), teacher, journal))
    assert first == second
    assert teacher.count("analyse") == 1
    assert journal.made == ["patches/failure_000"]
    assert AnalysisRecord.from_json(first.to_json()) == first


@pytest.mark.parametrize(
    ("minibatch", "fields", "fingerprint"),
    [
        (MINIBATCH, {"skill": "# Other\n"}, "fake"),
        (MINIBATCH, {"cap": 3}, "fake"),
        (MINIBATCH, {"meta_skill": "remember"}, "fake"),
        (MINIBATCH, {}, "another model"),
        (Minibatch("failure_000", Source.FAILURE, (ref("a"), ref("c"))), {}, "fake"),
        (
            Minibatch("failure_000", Source.FAILURE, (ref("a"), TrajectoryRef("b", 0, "kind", ref("b").load, "new"))),
            {},
            "fake",
        ),
    ],
)
def test_an_analysis_of_other_inputs_is_made_anew(
    minibatch: Minibatch, fields: dict[str, object], fingerprint: str
) -> None:
    journal = MemoryJournal()
    asyncio.run(analyse(MINIBATCH, context(), FakeTeacher(), journal))
    asyncio.run(analyse(minibatch, context(**fields), FakeTeacher(fingerprint), journal))  # type: ignore[arg-type]
    assert journal.made == ["patches/failure_000"] * 2
