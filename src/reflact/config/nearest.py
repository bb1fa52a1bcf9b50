"""The names that someone may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """Return candidates that resemble a name, the best first.

    Dotted names are compared whole and by their last part, so that `learning_rate` finds
    `optimizer.learning_rate`.
    """
    names = list(dict.fromkeys(candidates))
    last = name.rpartition(".")[2]
    by_last: dict[str, list[str]] = {}
    for candidate in names:
        by_last.setdefault(candidate.rpartition(".")[2], []).append(candidate)
    found = [candidate for match in get_close_matches(last, by_last, most, 0.75) for candidate in by_last[match]]
    found += get_close_matches(name, names, most, 0.7)
    return list(dict.fromkeys(found))[:most]


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """Return ` (did you mean ...?)`, or nothing if no candidate resembles the name."""
    found = nearest(name, candidates)
    return f" (did you mean {' or '.join(found)}?)" if found else ""
