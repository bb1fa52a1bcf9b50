"""The protected block survives everything that is done to a skill."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.optimizer.protected import (
    END,
    START,
    blocks,
    cut,
    ensure_block,
    guidance,
    put_back,
    skill_key,
    spans,
    with_guidance,
)

EMPTY = f"{START}\n{END}"
PIECES = st.lists(
    st.sampled_from([START, END, "\n", "text", "- rule\n", "<!-- reflact:", "slow-update:start -->", " "])
)
TEXTS = PIECES.map("".join)


def test_a_skill_without_a_block_has_no_guidance() -> None:
    assert guidance("# Skill\n") is None


def test_an_empty_block_goes_to_the_end() -> None:
    assert ensure_block("# Skill\n") == f"# Skill\n\n{EMPTY}\n"
    assert ensure_block("") == f"{EMPTY}\n"
    assert guidance(ensure_block("# Skill\n")) == ""


def test_a_block_that_is_there_is_left_alone() -> None:
    text = f"# Skill\n{START}\nkeep\n{END}\ntail"
    assert ensure_block(text) == text


def test_guidance_replaces_the_former_one_in_its_place() -> None:
    text = f"head\n{START}\nold\n{END}\ntail\n"
    assert with_guidance(text, "new\nlines") == f"head\n{START}\nnew\nlines\n{END}\ntail\n"


def test_guidance_cannot_close_its_own_block() -> None:
    text = with_guidance("# Skill\n", f"before {END} after {START} end")
    assert len(spans(text)) == 1
    assert guidance(text) == "before (slow-update end) after (slow-update start) end"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"a {START} b", ""),
        (f"a {END} b", ""),
        (f"{END} a {START}", ""),
        (f"{START} lost {START} inner {END}", "inner"),
        (f"{START} inner {END} {END}", "inner"),
        (f"{START}\none\n{END}\ntext\n{START}\ntwo\n{END}\n", "one\n\ntwo"),
    ],
)
def test_malformed_markers_are_mended_without_losing_guidance(text: str, kept: str) -> None:
    mended = ensure_block(text)
    assert len(spans(mended)) == 1
    assert guidance(mended) == kept


@given(TEXTS)
def test_any_text_gets_exactly_one_block(text: str) -> None:
    mended = ensure_block(text)
    assert len(spans(mended)) == len(blocks(mended)) == 1
    assert ensure_block(mended) == mended


@given(TEXTS, st.text())
def test_guidance_comes_back_as_it_was_given(text: str, content: str) -> None:
    assert guidance(with_guidance(text, content)) == with_markers_as_words(content).strip()


def with_markers_as_words(content: str) -> str:
    return content.replace(START, "(slow-update start)").replace(END, "(slow-update end)")


@given(TEXTS)
def test_cutting_and_putting_back_restores_every_byte(text: str) -> None:
    former = cut(text)
    assert put_back(former.outside, former) == text


@given(TEXTS, TEXTS)
def test_a_new_text_keeps_the_former_blocks(text: str, new: str) -> None:
    former = cut(text)
    restored = put_back(new, former)
    kept = [restored[span.start : span.end] for span in blocks(restored)]
    if new != former.outside:
        assert kept == [block for _, block in former.pieces]


def test_a_rewritten_skill_gets_its_block_at_the_end_and_own_markers_are_words() -> None:
    former = cut(f"old\n\n{START}\nkeep\n{END}\n")
    assert former.outside.strip() == "old"
    assert put_back(f"new {START}", former) == f"new (slow-update start)\n\n{START}\nkeep\n{END}\n"


@given(st.text())
def test_an_empty_block_does_not_make_another_skill(text: str) -> None:
    assert skill_key(ensure_block(text)) == skill_key(text)


def test_guidance_makes_another_skill() -> None:
    text = "# Skill\n"
    assert skill_key(with_guidance(text, "be brief")) != skill_key(text)
    assert skill_key(with_guidance(text, "be brief")) != skill_key(with_guidance(text, "be long"))
    assert skill_key("a") != skill_key("b")
