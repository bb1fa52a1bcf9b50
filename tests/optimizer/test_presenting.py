"""Trajectories in prompts are bounded, None-safe, and show gold only where they hold it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.core.types import Turn
from reflact.optimizer.presenting import cut_middle, show_drafts, show_patches, show_trajectory
from reflact.optimizer.types import Change, Patch, Source, Trajectory

from .fakes import patch, trajectory

MAYBE = st.one_of(st.none(), st.text(max_size=400))
TRAJECTORIES = st.builds(
    Trajectory,
    id=st.text(max_size=400),
    question=MAYBE,
    task_type=MAYBE,
    fail_reason=MAYBE,
    predicted_answer=MAYBE,
    hard=st.sampled_from([0.0, 0.5, 1.0]),
    soft=st.floats(0, 1),
    n_turns=st.integers(0, 99),
    conversation=st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), MAYBE), max_size=4).map(tuple),
    gold=st.one_of(st.none(), st.lists(st.text(max_size=50), max_size=3).map(tuple)),
)


@given(TRAJECTORIES, st.integers(200, 2000))
def test_any_trajectory_is_shown_within_its_room(shown: Trajectory, limit: int) -> None:
    assert len(show_trajectory(shown, limit)) <= limit


@given(st.text(), st.integers(0, 100))
def test_cutting_keeps_to_the_limit_and_leaves_short_texts_alone(text: str, limit: int) -> None:
    result = cut_middle(text, limit)
    assert len(result) <= max(limit, 0)
    if len(text) <= limit:
        assert result == text


def test_head_and_tail_of_a_long_conversation_are_kept() -> None:
    turns = (Turn("user", "FIRST " + "x" * 5000), Turn("assistant", "y" * 5000 + " LAST"))
    text = show_trajectory(trajectory(conversation=turns), 1000)
    assert "FIRST" in text
    assert text.endswith("LAST")
    assert "the middle is left out" in text


def test_a_long_question_leaves_room_for_the_conversation() -> None:
    turns = (Turn("assistant", "the decisive words"),)
    assert "the decisive words" in show_trajectory(trajectory(question="q" * 90_000, conversation=turns), 2000)


def test_texts_that_are_none_are_left_out_and_turns_without_text_say_so() -> None:
    nothing = trajectory(
        question=None,
        task_type=None,
        fail_reason=None,
        predicted_answer=None,
        conversation=(Turn("assistant", None),),
    )
    text = show_trajectory(nothing, 1000)
    assert "None" not in text
    assert "(no text)" in text
    assert "result: failed" in text


def test_gold_is_shown_only_where_the_trajectory_has_it() -> None:
    assert "SECRET" not in show_trajectory(trajectory(gold=None), 1000)
    assert '["SECRET"]' in show_trajectory(trajectory(gold=("SECRET",)), 1000)


def test_changes_are_numbered_through_all_patches() -> None:
    sides = show_patches([patch(Source.FAILURE, ["a"], ["b"]), patch(Source.SUCCESS, ["c", "d"])])
    assert [side["label"] for side in sides] == ["from failed trajectories", "from successful trajectories"]
    assert '"number": 1' in sides[0]["text"]
    assert '"number": 2' in sides[1]["text"]
    assert '"support_count": 2' in sides[1]["text"]


@pytest.mark.parametrize("source", [Source.FAILURE, Source.SUCCESS])
def test_drafts_have_neutral_labels(source: Source) -> None:
    (shown,) = show_drafts([Patch("", (Change({"skill": "# A"}, source, ("a",)),))])
    assert shown["label"] in ("from failed trajectories", "from successful trajectories")
    assert (shown["number"], shown["text"]) == (0, "# A")
