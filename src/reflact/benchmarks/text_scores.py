"""Scores of short free-text answers."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

# The official script drops ASCII punctuation only. Typographic quotes go too: a student that writes a right
# answer with curly quotes is not wrong.
_DROPPED = str.maketrans("", "", string.punctuation + "‘’‚‛“”„‟´`")
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """Return the text as SQuAD compares it: lower case, no punctuation, no articles, single blanks.

    Source: `normalize_answer` of the SQuAD v1.1 evaluation script (Rajpurkar et al., 2016), with typographic
    quotes counted as punctuation.
    """
    lowered = text.lower().translate(_DROPPED)
    return " ".join(_ARTICLES.sub(" ", lowered).split())


def exact_match(predicted: str, golds: Iterable[str]) -> float:
    """Return 1.0 if the normalised answer equals a normalised gold, else 0.0."""
    answer = normalise(predicted)
    return float(any(answer == normalise(gold) for gold in golds))


def token_f1(predicted: str, golds: Iterable[str]) -> float:
    """Return the largest token F1 over the golds, in [0, 1].

    With `s` shared tokens (a multiset intersection), `p` predicted and `g` gold tokens:
    `F1 = 2 * (s/p) * (s/g) / (s/p + s/g) = 2s / (p + g)`. Two texts without tokens are equal: 1.0.

    Source: `f1_score` of the SQuAD v1.1 evaluation script (Rajpurkar et al., 2016).
    """
    return max((_f1(normalise(predicted).split(), normalise(gold).split()) for gold in golds), default=0.0)


def _f1(predicted: list[str], gold: list[str]) -> float:
    if not predicted and not gold:
        return 1.0
    shared = (Counter(predicted) & Counter(gold)).total()
    return 2 * shared / (len(predicted) + len(gold))
