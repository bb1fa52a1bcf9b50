"""Every edit gets exactly one status, and none touches the protected block."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflact.optimizer import protected
from reflact.optimizer.edit_report import EditStatus
from reflact.optimizer.edits import apply_edits
from reflact.optimizer.types import Change, Source

from .fakes import edit

BLOCK = f"{protected.START}\nguidance line\n{protected.END}"
SKILL = f"# Skill\n\n- one\n- two\n\n{BLOCK}\n"


def statuses(skill: str, *changes: Change, **options: Any) -> list[str]:
    return [row.status.value for row in apply_edits(skill, changes, **options).report]


def test_append_goes_before_the_protected_block() -> None:
    applied = apply_edits(SKILL, [edit("append", None, "- three")])
    assert applied.text == f"# Skill\n\n- one\n- two\n- three\n\n{BLOCK}\n"
    assert applied.count == 1


def test_append_to_a_skill_without_a_block_goes_to_the_end() -> None:
    assert apply_edits("# Skill\n", [edit("append", None, "Text.")]).text == "# Skill\n\nText.\n"
    assert apply_edits("", [edit("append", None, "Text.")]).text == "Text.\n"


def test_insert_after_goes_below_the_line_that_holds_the_target() -> None:
    assert apply_edits("a b c\nd\n", [edit("insert_after", "b", "new")]).text == "a b c\nnew\nd\n"
    assert apply_edits("a b c", [edit("insert_after", "b", "new")]).text == "a b c\nnew"


def test_insert_after_a_target_on_several_lines_takes_the_first() -> None:
    assert apply_edits("x\nx\n", [edit("insert_after", "x", "new")]).text == "x\nnew\nx\n"


def test_replace_and_delete_take_the_one_match() -> None:
    applied = apply_edits("- one\n- two\n", [edit("replace", "one", "first"), edit("delete", "- two\n")])
    assert applied.text == "- first\n"


def test_edits_see_the_text_that_earlier_ones_left() -> None:
    applied = apply_edits("a\n", [edit("append", None, "b"), edit("replace", "b", "c")])
    assert applied.text == "a\n\nc\n"


@pytest.mark.parametrize("op", ["insert_after", "replace", "delete"])
def test_a_target_that_is_not_there_is_said_to_be_missing(op: str) -> None:
    assert statuses(SKILL, edit(op, "nowhere", "x")) == ["skipped_target_not_found"]


@pytest.mark.parametrize("op", ["replace", "delete"])
def test_several_matches_are_ambiguous_overlapping_ones_too(op: str) -> None:
    assert statuses("aXbXc", edit(op, "X", "y")) == ["skipped_ambiguous_target"]
    assert statuses("aaa", edit(op, "aa", "y")) == ["skipped_ambiguous_target"]


@pytest.mark.parametrize(
    "change",
    [
        edit("replace", "guidance line", "x"),
        edit("delete", "guidance line"),
        edit("insert_after", "guidance line", "x"),
        edit("replace", f"two\n\n{protected.START}\nguid", "x"),
        edit("delete", f"line\n{protected.END}\n"),
        edit("delete", f"- two\n\n{BLOCK}\n"),
        edit("append", None, f"{protected.START}\nmine\n{protected.END}"),
        edit("append", None, f"x {protected.END}"),
        edit("replace", "one", f"one {protected.START}"),
    ],
)
def test_nothing_reaches_into_the_protected_block_or_makes_another(change: Change) -> None:
    applied = apply_edits(SKILL, [change])
    assert [row.status for row in applied.report] == [EditStatus.PROTECTED]
    assert applied.text == SKILL


def test_a_line_cannot_slip_into_a_block_that_begins_on_the_targets_line() -> None:
    assert statuses(f"a {BLOCK}\n", edit("insert_after", "a ", "x")) == ["skipped_protected"]


def test_half_a_marker_cannot_be_completed() -> None:
    skill = "<!-- reflact:slow-update:X\n"
    assert statuses(skill, edit("replace", "X", "start -->")) == ["skipped_protected"]


@pytest.mark.parametrize(
    "change",
    [
        edit("append", None, ""),
        edit("append", None, " \n"),
        edit("append", None, None),
        edit("append", None, 3),
        edit("replace", "one", ""),
        edit("replace", "one", None),
        edit("replace", None, "x"),
        edit("insert_after", "", "x"),
        edit("delete", None),
        edit("delete", 7),
        edit("prepend", "one", "x"),
        edit(None, "one", "x"),
        edit(["append"], None, "x"),
        Change({}, Source.SUCCESS, ()),
    ],
)
def test_what_is_not_an_edit_is_invalid(change: Change) -> None:
    assert statuses(SKILL, change) == ["skipped_invalid"]


def test_repeated_edits_and_lines_already_there_are_duplicates() -> None:
    assert statuses(SKILL, edit("append", None, "- three"), edit("append", None, "- three")) == [
        "applied",
        "skipped_duplicate",
    ]
    assert statuses("x", edit("replace", "x", "xx"), edit("replace", "x", "xx")) == ["applied", "skipped_duplicate"]
    assert statuses(SKILL, edit("append", None, "- one\n- two")) == ["skipped_duplicate"]


def test_a_line_that_is_only_part_of_another_is_no_duplicate() -> None:
    assert statuses("- answer in one line\n", edit("append", None, "- answer")) == ["applied"]


def test_an_edit_that_makes_the_skill_too_long_is_skipped_and_the_next_one_is_tried() -> None:
    changes = [edit("append", None, "x" * 50), edit("append", None, "short")]
    assert statuses("# Skill\n", *changes, max_chars=30) == ["skipped_too_long", "applied"]
    assert statuses("# Skill\n", *changes, max_chars=0) == ["applied", "applied"]


def test_a_skill_that_is_too_long_already_may_be_shortened() -> None:
    assert statuses("x" * 50 + "tail", edit("delete", "tail"), max_chars=10) == ["applied"]


def test_the_report_says_of_each_edit_what_became_of_it_and_why_it_was_proposed() -> None:
    change = Change({"op": "append", "target": None, "content": "y" * 500}, Source.SUCCESS, ("i1", "i2"))
    row = apply_edits("", [change]).report[0].to_json()
    assert list(row) == ["op", "target", "content_preview", "source", "support_count", "support", "status"]
    assert (row["op"], row["source"], row["support_count"], row["support"]) == ("append", "success", 2, ["i1", "i2"])
    assert len(row["content_preview"]) == 200


def test_two_missing_targets_and_a_duplicate_leave_one_applied() -> None:
    changes = [
        edit("append", None, "- new"),
        edit("replace", "nope", "x"),
        edit("delete", "nothing"),
        edit("append", None, "- new"),
    ]
    assert statuses("# Skill\n", *changes) == [
        "applied",
        "skipped_target_not_found",
        "skipped_target_not_found",
        "skipped_duplicate",
    ]


FRAGMENTS = st.sampled_from(
    [
        "one",
        "two",
        "\n",
        "- ",
        "guidance",
        "line",
        protected.START,
        protected.END,
        "<!-- reflact:slow-update:",
        "start -->",
    ]
)
TEXT = st.lists(FRAGMENTS, max_size=6).map("".join)
ANYTHING = st.one_of(st.none(), st.integers(), TEXT, st.lists(TEXT, max_size=1))
BODIES = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["append", "insert_after", "replace", "delete"]), "target": TEXT, "content": TEXT}
    ),
    st.dictionaries(st.sampled_from(["op", "target", "content", "other"]), ANYTHING),
)
CHANGES = st.lists(st.builds(Change, BODIES, st.sampled_from(Source), st.just(("a",))), max_size=8)
SKILLS = st.one_of(TEXT, st.builds(lambda head, tail: f"{head}\n{BLOCK}\n{tail}", TEXT, TEXT))


@settings(max_examples=300, deadline=None)
@given(SKILLS, CHANGES, st.integers(0, 200))
def test_whatever_the_edits_are_the_protected_texts_stay_and_the_length_is_bounded(
    skill: str, changes: list[Change], limit: int
) -> None:
    applied = apply_edits(skill, changes, max_chars=limit)
    assert guarded(applied.text) == guarded(skill)
    assert len(applied.report) == len(changes)
    assert all(isinstance(row.status, EditStatus) for row in applied.report)
    if limit > 0:
        assert len(applied.text) <= max(limit, len(skill))
    if applied.count == 0:
        assert applied.text == skill


def guarded(text: str) -> list[str]:
    return [text[span.start : span.end] for span in protected.spans(text)]
