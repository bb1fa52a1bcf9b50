"""A rewritten skill keeps its protected block, and a reply that cannot be taken whole is not taken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflact.optimizer.full_rewrite import FullRewrite, full_rewrite
from reflact.optimizer.protected import END, START, guidance, with_guidance
from reflact.optimizer.rewrite import Rewrite, rewrite
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.types import Change, Merge, MergedChange, Patch, Source, UpdateMode

from .fakes import SKILL, FakeTeacher, MemoryJournal, change, context, raising

GUIDED = with_guidance(SKILL, "be careful")
SUGGESTIONS = (change({"type": "clarify", "title": "t", "motivation": "m", "instruction": "i"}),)


def run(teacher: FakeTeacher, max_chars: int = 0, journal: MemoryJournal | None = None) -> Rewrite:
    given = context(GUIDED, UpdateMode.SUGGESTIONS)
    return asyncio.run(rewrite(given, SUGGESTIONS, teacher, journal or MemoryJournal(), max_chars))


def test_the_rewriter_never_sees_the_protected_block_and_cannot_lose_it() -> None:
    teacher = FakeTeacher(rewrite=lambda *_: ("# New\n\n- rule", "all new"))
    result = run(teacher)
    assert "slow-update" not in teacher.calls[0][1][0].skill
    assert result.text == f"# New\n\n- rule\n\n{START}\nbe careful\n{END}\n"
    assert result.summary == "all new"


def test_a_rewriter_cannot_make_a_block_of_its_own() -> None:
    result = run(FakeTeacher(rewrite=lambda *_: (f"# New {START} mine {END}", "")))
    assert result.text is not None
    assert guidance(result.text) == "be careful"
    assert result.text.count(START) == 1


@pytest.mark.parametrize("cause", ["truncated", "invalid", "refused"])
def test_a_failed_call_gives_no_skill_and_its_cause(cause: str) -> None:
    result = run(FakeTeacher(rewrite=raising(TeacherFailure(cause, "in words"))))
    assert (result.text, result.cause, result.summary) == (None, cause, "in words")
    assert result.to_json()["skill_sha256"] is None


def test_an_empty_reply_gives_no_skill() -> None:
    assert run(FakeTeacher(rewrite=lambda *_: (" \n", ""))).cause == "empty"


def test_a_skill_that_is_too_long_is_not_cut_but_refused() -> None:
    result = run(FakeTeacher(rewrite=lambda *_: ("x" * 500, "")), max_chars=300)
    assert (result.text, result.cause) == (None, "too_long")
    assert run(FakeTeacher(rewrite=lambda *_: ("x" * 10, "")), max_chars=300).text is not None


def test_an_unchanged_body_is_the_same_skill_byte_for_byte() -> None:
    assert run(FakeTeacher(rewrite=lambda given, _: (given.skill.strip(), "nothing"))).text == GUIDED


def test_a_rewrite_is_paid_once() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    assert run(teacher, journal=journal) == run(teacher, journal=journal)
    assert teacher.count("rewrite") == 1


def draft(name: str, source: Source = Source.FAILURE) -> Patch:
    return Patch("why", (Change({"skill": f"# {name}\n"}, source, (name,)),))


def combine(patches: list[Patch], max_chars: int = 0, **answers: Any) -> tuple[FullRewrite, FakeTeacher]:
    teacher = FakeTeacher(**answers)
    given = context(GUIDED, UpdateMode.FULL_REWRITE)
    return asyncio.run(full_rewrite(patches, given, teacher, MemoryJournal(), 2, max_chars)), teacher


def joined(_: Any, patches: tuple[Patch, ...], __: bool) -> Merge:
    bodies = [str(one.body["skill"]) for given in patches for one in given.changes]
    return Merge("joined", (MergedChange({"skill": "".join(bodies)}, tuple(range(len(bodies)))),))


def test_drafts_of_both_sides_are_combined_into_one_candidate() -> None:
    result, teacher = combine([draft("f1"), draft("s1", Source.SUCCESS), draft("f2")], merge=joined)
    assert result.text == f"# f1\n# f2\n# s1\n\n{START}\nbe careful\n{END}\n"
    assert teacher.count("merge") == 2
    assert all("slow-update" not in given[0].skill for _, given in teacher.calls)


def test_a_single_draft_is_the_candidate_without_a_merge() -> None:
    result, teacher = combine([draft("only")])
    assert result.text is not None
    assert result.text.startswith("# only\n")
    assert teacher.calls == []


def test_drafts_are_never_concatenated_when_a_merge_fails() -> None:
    result, _ = combine([draft("a"), draft("b")], merge=raising(TeacherFailure("truncated", "cut")))
    assert (result.text, result.cause) == (None, "truncated")


def test_without_a_draft_there_is_no_candidate() -> None:
    result, _ = combine([])
    assert (result.text, result.cause) == (None, "no_draft")


def test_a_merged_skill_that_is_too_long_is_refused() -> None:
    result, _ = combine([draft("x" * 400)], max_chars=300)
    assert (result.text, result.cause) == (None, "too_long")


def test_the_record_has_no_edit_budget() -> None:
    result, _ = combine([draft("a"), draft("b")], merge=joined)
    record = result.to_json()
    assert record["edit_budget"] is None
    assert (record["drafts"], record["support"]) == (2, ["a", "b"])
