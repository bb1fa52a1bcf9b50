"""Decisions about the skill, as events tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.names import Action

TAKEN = frozenset({Action.ACCEPT, Action.ACCEPT_NEW_BEST, Action.FORCE_ACCEPT})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a step or an epoch-end update (`what`) did to the skill, with the scores it rests on."""

    what: str
    epoch: int | None
    step: int | None
    action: str
    candidate: float | None
    current: float | None
    best: float | None
    edits: int
    budget: int | None
    preview: str

    @property
    def taken(self) -> bool:
        """Whether the skill changed."""
        return self.action in TAKEN


def verdict(event: Mapping[str, Any]) -> Verdict:
    """Read a `decision` event."""
    return Verdict(
        what=str(event.get("what")),
        epoch=event.get("epoch"),
        step=event.get("step"),
        action=str(event.get("action")),
        candidate=event.get("candidate_score"),
        current=event.get("current_score"),
        best=event.get("best_score"),
        edits=int(event.get("edits_applied") or 0),
        budget=event.get("edit_budget"),
        preview=str(event.get("preview") or ""),
    )


@dataclass
class Verdicts:
    """The decisions of a run in order; one that a resumed run repeats counts once."""

    _kept: dict[tuple[str, int | None, int | None], Verdict] = field(default_factory=dict)

    def record(self, event: Mapping[str, Any]) -> Verdict:
        """Take a `decision` event."""
        new = verdict(event)
        key = (new.what, new.epoch, new.step)
        self._kept.pop(key, None)
        self._kept[key] = new
        return new

    @property
    def all(self) -> list[Verdict]:
        """The decisions, the oldest first."""
        return list(self._kept.values())

    @property
    def steps_decided(self) -> set[int]:
        """Numbers of the steps with a decision."""
        return {step for what, _, step in self._kept if what == "step" and step is not None}

    @property
    def actions(self) -> Counter[str]:
        """Decisions by action."""
        return Counter(kept.action for kept in self._kept.values())

    @property
    def last(self) -> Verdict | None:
        """The last decision."""
        return next(reversed(self._kept.values()), None)

    @property
    def last_taken(self) -> Verdict | None:
        """The last decision that changed the skill."""
        return next((kept for kept in reversed(self._kept.values()) if kept.taken), None)

    @property
    def current(self) -> float | None:
        """The current skill's score in the gate's metric after the last decision that names it."""
        return next((kept.current for kept in reversed(self._kept.values()) if kept.current is not None), None)

    @property
    def best(self) -> float | None:
        """The best skill's score in the gate's metric after the last decision that names it."""
        return next((kept.best for kept in reversed(self._kept.values()) if kept.best is not None), None)
