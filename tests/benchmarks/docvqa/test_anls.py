from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.docvqa.anls import anls, normalise


def independent_anls(predicted: str, golds: list[str]) -> Fraction:
    """Written from the definition alone: exact fractions and a table of edit distances."""

    def squeezed(text: str) -> str:
        words, word = [], ""
        for character in text.lower() + " ":
            if character.isspace():
                words += [word] if word else []
                word = ""
            else:
                word += character
        return " ".join(words)

    def distance(a: str, b: str) -> int:
        table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                table[i, j] = min(
                    table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
                )
        return table[len(a), len(b)]

    best = Fraction(0)
    for gold in golds:
        a, b = squeezed(predicted), squeezed(gold)
        ratio = Fraction(distance(a, b), max(len(a), len(b))) if a or b else Fraction(0)
        best = max(best, 1 - ratio if ratio < Fraction(1, 2) else Fraction(0))
    return best


# Few letters, so that near misses are common; blanks and case of every kind.
texts = st.text(st.sampled_from("abAB1,. \t\n\u00a0ßİé"), max_size=12)


@given(texts, st.lists(texts, max_size=4))
def test_two_implementations_agree(predicted: str, golds: list[str]) -> None:
    assert anls(predicted, golds) == pytest.approx(float(independent_anls(predicted, golds)), abs=1e-12)


@given(texts, texts, st.lists(texts, max_size=3))
def test_what_must_hold_of_every_score(left: str, right: str, more: list[str]) -> None:
    assert anls(left, [right]) == anls(right, [left])
    assert anls(left, [left]) == 1.0
    assert anls(left, [right, *more]) == max(anls(left, [gold]) for gold in [right, *more])
    assert anls(f" {left.upper()}\n", [right]) == anls(normalise(left.upper()), [right])
    assert anls(left, [right]) == 0.0 or anls(left, [right]) > 0.5


@pytest.mark.parametrize(
    ("predicted", "gold", "value"),
    [
        ("14 March 1987", "14 march  1987", 1.0),
        ("abcd", "abxy", 0.0),  # a ratio of exactly one half
        ("abcde", "abcxy", 0.6),
        ("1,234", "1234", 0.8),
        ("", "x", 0.0),
        ("", " ", 1.0),
        ("a" * 1999 + "b", "a" * 2000, 0.9995),
    ],
)
def test_by_hand(predicted: str, gold: str, value: float) -> None:
    assert anls(predicted, [gold]) == pytest.approx(value)


def test_without_golds_there_is_no_score() -> None:
    assert anls("x", []) == 0.0
