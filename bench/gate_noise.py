"""What noise alone does at the gate: many decisions at once, each taken by the engine's own rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reflact.engine.gate import Measured, Rule

Array = Any  # of numpy; its element types would say nothing here


@dataclass(frozen=True, slots=True)
class Noise:
    """How likely each item is to be passed.

    Attributes:
        name: For tables.
        draw: Gives chances for (generator, shape).
    """

    name: str
    draw: Callable[[np.random.Generator, tuple[int, int]], Array]


NOISES = (
    Noise("every item 1/4", lambda rng, shape: np.full(shape, 0.25)),
    Noise("every item 1/2", lambda rng, shape: np.full(shape, 0.5)),
    Noise("mixed", lambda rng, shape: rng.beta(0.5, 0.5, shape)),
)
"""`mixed`: most items nearly always right or wrong; a quarter of them change between two measurements."""


@dataclass(slots=True)
class Judge:
    """Decides by a rule of the engine; what only depends on gained and lost items is asked once."""

    rule: Rule
    n: int
    _known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def accepts(self, gained: Array, lost: Array) -> Array:
        """Return the decisions for counts of items that changed to right and to wrong."""
        pairs, where = np.unique(np.stack([gained, lost], axis=1), axis=0, return_inverse=True)
        return np.array([self._decide(int(up), int(down)) for up, down in pairs])[where.ravel()]

    def _decide(self, gained: int, lost: int) -> bool:
        if (gained, lost) not in self._known:
            before = [0.0] * gained + [1.0] * lost + [0.0] * (self.n - gained - lost)
            after = [1.0] * gained + [0.0] * lost + [0.0] * (self.n - gained - lost)
            verdict = self.rule.decide(_measured(after), _measured(before))
            self._known[gained, lost] = verdict.accept
        return self._known[gained, lost]


def _measured(values: list[float]) -> Measured:
    return Measured({str(place): (value,) for place, value in enumerate(values)}, len(values))


def accepted(judge: Judge, noise: Noise, decisions: int, *, gain: float = 0.0, seed: int = 0) -> int:
    """Return how many of many independent candidates are accepted.

    Args:
        judge: The rule at this size.
        noise: The items.
        decisions: How many.
        gain: Share of what an item lacks that the edit really adds to its chance; 0 is an edit that does nothing.
        seed: Seed of all draws.
    """
    rng = np.random.default_rng(seed)
    chances = noise.draw(rng, (decisions, judge.n))
    before = rng.random(chances.shape) < chances
    after = rng.random(chances.shape) < chances + gain * (1 - chances)
    return int(judge.accepts(*_moves(before, after)).sum())


@dataclass(frozen=True, slots=True)
class Study:
    """Many runs in which no edit does anything.

    Attributes:
        any_accepted: Share of the runs that took at least one edit.
        taken: Edits taken a run.
        optimism: Mean of the best skill's selection score minus what it would score on endlessly many trials.
    """

    any_accepted: float
    taken: float
    optimism: float


def study(judge: Judge, noise: Noise, runs: int, steps: int, seed: int = 0) -> Study:
    """Take `steps` decisions in each of many runs; an accepted candidate becomes the one to beat."""
    rng = np.random.default_rng(seed)
    chances = noise.draw(rng, (runs, judge.n))
    current = rng.random(chances.shape) < chances
    best = current.mean(axis=1)
    taken = np.zeros(runs)
    for _ in range(steps):
        candidate = rng.random(chances.shape) < chances
        accept = judge.accepts(*_moves(current, candidate))
        current = np.where(accept[:, None], candidate, current)
        best = np.where(accept, np.maximum(best, candidate.mean(axis=1)), best)
        taken += accept
    return Study(float((taken > 0).mean()), float(taken.mean()), float((best - chances.mean(axis=1)).mean()))


def _moves(before: Array, after: Array) -> tuple[Array, Array]:
    return (after & ~before).sum(axis=1), (before & ~after).sum(axis=1)
