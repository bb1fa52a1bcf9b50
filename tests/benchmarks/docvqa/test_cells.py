from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.docvqa.cells import texts_in


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("1,234", ("1,234",)),
        ("(1, 2)", ("(1, 2)",)),
        ("{'a'}", ("{'a'}",)),
        ("None", ("None",)),
        ("'quoted'", ("'quoted'",)),
        ("  12 May ", ("12 May",)),
        ("5 [sic]", ("5 [sic]",)),
        ("['1,234']", ("1,234",)),
        (" ['a', \"it's\"] ", ("a", "it's")),
        ("['a', 'b',]", ("a", "b")),
        ("['a' 'b']", ("a", "b")),
        ("['a'\n 'b']", ("a", "b")),
        ("[' a ', ' ']", ("a",)),
        ("[]", ()),
        ("", ()),
        ("['caf\\u00e9', '\\'']", ("café", "'")),
        ("['[x]', 'a]']", ("[x]", "a]")),
    ],
)
def test_only_a_leading_bracket_makes_a_list(cell: str, texts: tuple[str, ...]) -> None:
    assert texts_in(cell) == texts


@pytest.mark.parametrize(
    "cell",
    [
        "[1, 2]",
        "[sic] and so on",
        "['a'",
        "['a",
        "['a'] b",
        "['a'], ['b']",
        "[['a']]",
        "[b'a']",
        "[f'a']",
        "['a' ... 'b']",
        "[__import__('os')]",
        "[None]",
        "['''a]",
    ],
)
def test_what_begins_like_a_list_must_be_one_of_texts(cell: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        texts_in(cell)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20)))
def test_a_list_that_python_wrote_is_read_back(texts: list[str]) -> None:
    assert texts_in(repr(texts)) == tuple(text.strip() for text in texts if text.strip())


@given(st.text(st.characters(codec="utf-8")))
def test_every_cell_is_texts_or_refused(cell: str) -> None:
    try:
        assert all(text == text.strip() != "" for text in texts_in(cell))
    except ValueError:
        assert cell.lstrip().startswith("[")
