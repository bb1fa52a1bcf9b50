from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.answers import Extraction, extract, last_tag


@pytest.mark.parametrize(
    ("reply", "text", "tagged"),
    [
        ("<answer>Paris</answer>", "Paris", True),
        ("<ANSWER>\n Paris \n</Answer> bye", "Paris", True),
        ("<answer>a</answer> no: <answer>b</answer>", "b", True),
        ("I put it in <answer> tags: <answer>x</answer>", "x", True),
        ("<answer>x</answer> and <answer>y", "x", True),
        ("<answer></answer>", "", True),
        ("< answer >x</ answer >", "x", True),
        ("So it is\nParis\n\n", "Paris", False),
        ("So it is\n<answer>Paris", "Paris", False),
        ("x</answer>", "x", False),
        ("one\r\ntwo\u2028three", "three", False),
        ("  \n ", None, False),
        ("", None, False),
        ("<answer>\n", None, False),
    ],
)
def test_extraction(reply: str, text: str | None, tagged: bool) -> None:
    assert extract(reply) == Extraction(text, tagged)


pieces = st.lists(st.sampled_from(["<answer>", "</answer>", "<ANSWER>", "a", "b\n", " ", "<", ">"]), max_size=12)


@given(pieces.map("".join))
def test_the_last_tag_is_what_a_regular_expression_finds(reply: str) -> None:
    found = re.findall(r"<answer>((?:(?!</?answer>).)*)</answer>", reply, re.IGNORECASE | re.DOTALL)
    assert last_tag(reply) == (found[-1].strip() if found else None)


def test_many_open_tags_are_read_in_linear_time() -> None:
    assert last_tag("<answer>" * 200_000) is None
