"""What is learnt from an epoch: guidance, memory, a review."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflact.core.errors import ConfigError
from reflact.optimizer.meta_reflect import review
from reflact.optimizer.meta_skill import remember
from reflact.optimizer.protected import END, START
from reflact.optimizer.slow_update import classify, guide, keep, pair_kind
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Analysis, Comparison, EpochReview, Pair, PairKind, Source

from .fakes import FakeTeacher, MemoryJournal, append, raising, ref

PREVIOUS = [ref("a", 0), ref("b", 1), ref("c", 0), ref("d", 1), ref("gone", 1)]
CURRENT = [ref("d", 1), ref("c", 0), ref("b", 0), ref("a", 1), ref("new", 1)]
PAIRS = classify(PREVIOUS, CURRENT)


def comparison(pairs: tuple[Pair, ...] = PAIRS) -> Comparison:
    return Comparison("# Before\n", "# Now\n", pairs)


@pytest.mark.parametrize(
    ("previous", "current", "kind"),
    [
        (0, 1, PairKind.IMPROVED),
        (1, 0, PairKind.REGRESSED),
        (0, 0, PairKind.PERSISTENT_FAIL),
        (1, 1, PairKind.STABLE_SUCCESS),
        (0.35, 0.75, PairKind.STABLE_SUCCESS),
        (0.35, 0, PairKind.REGRESSED),
    ],
)
def test_a_pair_says_how_an_item_went(previous: float, current: float, kind: PairKind) -> None:
    assert pair_kind(previous, current) is kind


def test_items_scored_under_one_skill_only_make_no_pair() -> None:
    assert [(pair.id, pair.kind.value) for pair in PAIRS] == [
        ("d", "stable_success"),
        ("c", "persistent_fail"),
        ("b", "regressed"),
        ("a", "improved"),
    ]


@pytest.mark.parametrize(("policy", "ids"), [("mixed", "dcba"), ("changed", "ba"), ("unchanged", "dc")])
def test_the_policy_says_which_pairs_are_seen(policy: str, ids: str) -> None:
    assert "".join(pair.id for pair in keep(policy, PAIRS)) == ids


def test_an_unknown_policy_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="mixed, changed, unchanged"):
        keep("some", PAIRS)


@pytest.mark.parametrize(("stage", "function"), [("guide", guide), ("remember", remember)])
def test_texts_about_a_comparison(stage: str, function: Any) -> None:
    def ask(teacher: FakeTeacher, given: Comparison | None = None, journal: MemoryJournal | None = None) -> Any:
        return asyncio.run(function(given or comparison(), "former", teacher, journal or MemoryJournal()))

    assert ask(FakeTeacher(**{stage: lambda *_: ("why", " text\n")})).content == "text"

    failed = ask(FakeTeacher(**{stage: raising(TeacherFailure("truncated", "cut"))}))
    assert (failed.content, failed.cause) == (None, "truncated")

    assert ask(FakeTeacher(**{stage: lambda *_: ("why", "  ")})).cause == "empty"

    unasked = FakeTeacher()
    assert ask(unasked, comparison(())).cause == "no_pairs"
    assert unasked.calls == []

    teacher, journal = FakeTeacher(), MemoryJournal()
    assert ask(teacher, None, journal) == ask(teacher, None, journal)
    assert teacher.count(stage) == 1
    ask(teacher, comparison(PAIRS[:2]), journal)
    assert teacher.count(stage) == 2


def test_guidance_cannot_bring_markers_in() -> None:
    teacher = FakeTeacher(guide=lambda *_: ("", f"a {END} b {START}"))
    result = asyncio.run(guide(comparison(), "", teacher, MemoryJournal()))
    assert result.content == "a (slow-update end) b (slow-update start)"


def look_back(teacher: FakeTeacher, cap: int = 2, journal: MemoryJournal | None = None) -> Any:
    subject = EpochReview(2, ({"action": "reject"},), "former", "# Skill\n")
    return asyncio.run(review(subject, cap, teacher, journal or MemoryJournal()))


def test_a_review_gives_a_summary_and_at_most_the_caps_number_of_edits() -> None:
    bodies = tuple(append(f"- {number}") for number in range(3))
    result = look_back(FakeTeacher(review=lambda *_: ("learnt", Analysis("why", bodies))))
    assert (result.summary, len(result.changes), result.dropped) == ("learnt", 2, 1)
    assert {(change.source, change.support) for change in result.changes} == {(Source.HISTORY, ())}


def test_a_review_with_a_cap_of_zero_keeps_the_summary_alone() -> None:
    result = look_back(FakeTeacher(), cap=0)
    assert (result.summary, result.changes, result.dropped) == ("summary", (), 1)


def test_a_failed_review_leaves_the_former_summary() -> None:
    result = look_back(FakeTeacher(review=raising(TeacherFailure("invalid", "no"))))
    assert (result.summary, result.changes, result.cause) == (None, (), "invalid")


def test_a_review_is_paid_once() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    assert look_back(teacher, journal=journal) == look_back(teacher, journal=journal)
    assert teacher.count("review") == 1
