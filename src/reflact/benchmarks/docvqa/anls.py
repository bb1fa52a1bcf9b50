"""Average normalised Levenshtein similarity (ANLS)."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import Levenshtein

THRESHOLD = 0.5
"""From this share of differing characters on, an answer counts as another one."""
HARD_FROM = 0.999
"""An answer that reaches this similarity is right."""


def normalise(text: str) -> str:
    """Return the text as it is compared: in lower case, every run of blanks one blank, none at the ends."""
    return " ".join(text.lower().split())


def anls(predicted: str, golds: Iterable[str]) -> float:
    """Return the largest similarity over the golds, in [0, 1].

    With the edit distance `d` of two normalised texts and `r = d / max(length)`: `1 - r` if `r < 0.5`, else 0. Two
    blank texts are equal: 1.

    Source: Biten et al., "Scene Text Visual Question Answering" (2019), equation 1, with the threshold 0.5; a ratio of
    exactly 0.5 scores 0 there and here.
    """
    answer = normalise(predicted)
    return max((_similarity(answer, normalise(gold)) for gold in golds), default=0.0)


def _similarity(left: str, right: str) -> float:
    longest = max(len(left), len(right))
    if not longest:
        return 1.0
    ratio = Levenshtein.distance(left, right) / longest
    return 1.0 - ratio if ratio < THRESHOLD else 0.0
