from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.text_scores import exact_match, normalise, token_f1

# A second scorer, written from the definition and character by character.
QUOTES = {chr(code) for code in (0x2018, 0x2019, 0x201A, 0x201B, 0x201C, 0x201D, 0x201E, 0x201F, 0xB4, 0x60)}


def tokens(text: str) -> list[str]:
    kept = "".join(c for c in text.lower() if c not in string.punctuation and c not in QUOTES)
    words, word = [], ""
    for c in kept + " ":
        if c.isalnum() or c == "_":
            word += c
            continue
        words.append("" if word in ("a", "an", "the") else word)
        words.append(c)
        word = ""
    return "".join(words).split()


def f1(predicted: list[str], gold: list[str]) -> float:
    left = list(gold)
    shared = 0
    for token in predicted:
        if token in left:
            left.remove(token)
            shared += 1
    if predicted == gold == []:
        return 1.0
    if shared == 0:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


words = st.sampled_from(
    ["the", "a", "An", "Paris", "paris", "of", "France", "'s", '"', "“", "’", ".", "-", " ", "\n", "ß"]
)
texts = st.lists(words, max_size=8).map("".join) | st.lists(words, max_size=8).map(" ".join)


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_scores_agree_with_a_second_scorer(predicted: str, golds: list[str]) -> None:
    assert exact_match(predicted, golds) == float(any(tokens(predicted) == tokens(gold) for gold in golds))
    assert token_f1(predicted, golds) == pytest.approx(max(f1(tokens(predicted), tokens(gold)) for gold in golds))


@given(st.text(), st.text())
def test_scores_lie_between_0_and_1_and_a_match_has_full_f1(predicted: str, gold: str) -> None:
    hard, soft = exact_match(predicted, [gold]), token_f1(predicted, [gold])
    assert hard in (0.0, 1.0)
    assert 0.0 <= soft <= 1.0
    assert hard == 0 or soft == 1


@given(st.text())
def test_normalising_twice_changes_nothing_for_ascii(text: str) -> None:
    ascii_text = text.encode("ascii", "ignore").decode()
    # A second pass may find an article that punctuation had hidden only if there was one inside a word.
    once = normalise(ascii_text)
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("predicted", "gold", "hard", "soft"),
    [
        ('"The Raven"', "raven", 1, 1),
        ("“The Raven”", "The Raven", 1, 1),
        ("Schindler’s List", "Schindler's List", 1, 1),
        ("Paris, France", "Paris", 0, 2 / 3),
        ("Rome", "Paris", 0, 0),
        ("a b b", "b", 0, 2 / 3),
    ],
)
def test_scores_by_hand(predicted: str, gold: str, hard: float, soft: float) -> None:
    assert exact_match(predicted, [gold]) == hard
    assert token_f1(predicted, [gold]) == pytest.approx(soft)
    assert token_f1(predicted, ["something else", gold]) == pytest.approx(soft)


def test_no_gold_matches_nothing() -> None:
    assert exact_match("x", []) == token_f1("x", []) == 0.0
