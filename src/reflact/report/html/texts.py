"""Texts that stand in many places are kept once: in a run, and in all runs that share them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

CHARS = 20_000
"""Characters that are kept of a conversation where nothing else is asked for."""
_LONG = 120
"""Characters from which a text is worth sharing between runs."""
_SHARED = -1


def cut(text: str, limit: int) -> str:
    """Return a text of at most about `limit` characters, head and tail kept; the gap says what is missing."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[... {len(text) - head - tail:,} characters left out ...]\n{text[len(text) - tail :]}"


def cut_turns(turns: Sequence[tuple[str, str]], limit: int) -> list[tuple[str, str]]:
    """Return the (role, content) pairs of a conversation with at most about `limit` characters, both ends kept."""
    if sum(len(content) for _, content in turns) <= limit:
        return list(turns)
    head, used = _fitting(turns, limit // 2)
    tail, _ = _fitting(turns[len(head) :][::-1], limit - used)
    missing = len(turns) - len(head) - len(tail)
    gap = [("", f"[... {missing} turns left out ...]")] if missing else []
    return [*head, *gap, *tail[::-1]]


def _fitting(turns: Sequence[tuple[str, str]], limit: int) -> tuple[list[tuple[str, str]], int]:
    kept: list[tuple[str, str]] = []
    used = 0
    for role, content in turns:
        if kept and used >= limit:
            break
        short = cut(content, max(limit - used, 200))
        kept.append((role, short))
        used += len(short)
    return kept, used


class SharedTexts:
    """Long texts of all runs: first every run shows its own, then those of several runs are kept once."""

    def __init__(self) -> None:
        self._owner: dict[bytes, int] = {}
        self._place: dict[tuple[str, bytes], int] = {}
        self.pools: dict[str, list[str]] = {}

    def show(self, run: int, text: str) -> None:
        """Say that a run has a text."""
        if len(text) >= _LONG:
            key = _key(text)
            if self._owner.setdefault(key, run) != run:
                self._owner[key] = _SHARED

    def find(self, pool: str, text: str) -> int | None:
        """Return a text's place in a pool; None if only one run has it."""
        if len(text) < _LONG:
            return None
        key = _key(text)
        if self._owner.get(key) != _SHARED:
            return None
        place = self._place.get((pool, key))
        if place is None:
            texts = self.pools.setdefault(pool, [])
            place = self._place[pool, key] = len(texts)
            texts.append(text)
        return place


class RunTexts:
    """The texts of one run; a number stands for each: from 0 on its own, below 0 those of the pool."""

    def __init__(self, shared: SharedTexts, pool: str) -> None:
        self.own: list[str] = []
        self._shared = shared
        self._pool = pool
        self._known: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number that stands for a text."""
        if text not in self._known:
            place = self._shared.find(self._pool, text)
            if place is None:
                self._known[text] = len(self.own)
                self.own.append(text)
            else:
                self._known[text] = -1 - place
        return self._known[text]


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
