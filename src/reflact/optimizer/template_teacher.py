"""Teacher `template`: proposes worked examples and format rules by a fixed plan, without a model.

It shows what the loop does with an honest teacher of the simplest kind: what it proposes is ordinary edits, and
the gate decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from reflact.core.hashing import digest
from reflact.optimizer.plain_stages import carried_out, change_bodies, fenced, merged, with_texts
from reflact.optimizer.provenance import by_support
from reflact.optimizer.types import (
    Analysis,
    BufferEntry,
    Change,
    Comparison,
    EpochReview,
    Evidence,
    Evolution,
    FailureType,
    LearningRate,
    Merge,
    PairKind,
    Patch,
    Source,
    StepContext,
    Trajectory,
    TrajectoryRef,
    UpdateMode,
)

VERSION = 1
TAG = "Answer:"
"""What the gold follows in a worked example."""
PLAN = (1, 2, 4, 0)
"""Worked examples to add in the first, second ... step of an epoch, then from the start; 0 adds a format rule."""
FORMAT_RULES = (
    "Follow the form of the worked examples exactly.",
    "Reply with the answer alone, on one line.",
    "Write numbers in digits.",
    "Copy names as they are written.",
)
MAX_EXAMPLE_CHARS = 2000
MOST_EDITS = 4
"""The learning rate that this teacher chooses where it may."""


class Chooser(Protocol):
    """Chooses which failures become worked examples."""

    @property
    def fingerprint(self) -> str:
        """Everything that shapes the choice."""
        ...

    async def choose(self, context: StepContext, candidates: tuple[Trajectory, ...], count: int) -> tuple[int, ...]:
        """Return the indices of at most `count` candidates, in order of use."""
        ...


class FirstFailures:
    """Takes failures in batch order."""

    fingerprint = "first"

    async def choose(self, context: StepContext, candidates: tuple[Trajectory, ...], count: int) -> tuple[int, ...]:
        """Return the first indices."""
        return tuple(range(min(count, len(candidates))))


class TemplateTeacher:
    """Implements `Teacher` by rule.

    Args:
        chooser: Who chooses among the failures.
    """

    def __init__(self, chooser: Chooser | None = None) -> None:
        self._chooser: Chooser = FirstFailures() if chooser is None else chooser

    @property
    def fingerprint(self) -> str:
        """Hash over plan, rules and chooser."""
        return digest(["template", VERSION, PLAN, FORMAT_RULES, self._chooser.fingerprint])

    async def analyse(self, context: StepContext, source: Source, trajectories: tuple[TrajectoryRef, ...]) -> Analysis:
        """Propose what the plan says for this step of the epoch; successes need no change."""
        if source is Source.SUCCESS:
            return Analysis("What works is left alone.", ())
        shown = tuple(ref.load() for ref in trajectories)
        contents = await self._contents(context, shown)
        why = "Failed items, with their answers, show the form that is wanted."
        return Analysis(
            reasoning=why,
            changes=change_bodies(context.mode, context.skill, contents, why),
            failure_types=(FailureType("wrong answer", len(shown), "The reply is not the expected answer."),),
        )

    async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
        """Concatenate, equal changes once."""
        return merged(patches, context.mode)

    async def rank(self, context: StepContext, changes: tuple[Change, ...], budget: int) -> tuple[int, ...]:
        """Order by support, failures first."""
        return tuple(by_support(changes))[:budget]

    async def choose_learning_rate(self, context: StepContext, evidence: Evidence) -> LearningRate:
        """Take up to `MOST_EDITS`."""
        rate = min(MOST_EDITS, len(evidence.changes))
        return LearningRate(rate, f"All changes, at most {MOST_EDITS}.", "medium", "None known.")

    async def rewrite(self, context: StepContext, changes: tuple[Change, ...]) -> tuple[str, str]:
        """Append what the suggestions ask for."""
        return carried_out(context.skill, changes), f"Added {len(changes)} texts at the end."

    async def guide(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Show an item that the current skill fails as a worked example; without one, keep what was there."""
        for pair in comparison.pairs:
            if pair.kind in (PairKind.REGRESSED, PairKind.PERSISTENT_FAIL):
                example = worked_example(pair.current.load())
                if example is not None and example not in comparison.current_skill:
                    return f"Item {pair.id} still fails.", example
        return "No failing item is left to show.", former

    async def remember(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Note how the pairs went; this teacher's plan does not read it."""
        counts = {kind.value: sum(pair.kind is kind for pair in comparison.pairs) for kind in PairKind}
        return "Counted the pairs.", "; ".join(f"{name}: {count}" for name, count in counts.items())

    async def review(self, review: EpochReview, cap: int) -> tuple[str, Analysis]:
        """Propose the next format rule."""
        summary = f"Epoch {review.epoch}: {len(review.records)} records."
        contents = [_item(rule) for rule in _missing(review.skill, ())[: min(1, cap)]]
        why = "A format rule that the skill lacks."
        return summary, Analysis(why, change_bodies(UpdateMode.PATCH, review.skill, contents, why))

    async def diagnose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> str:
        """Ask for the fields one by one."""
        return "Before you answer, name the parts that the answer needs and where the question gives each of them."

    async def compose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> tuple[str, str]:
        """Add as many worked examples as the plan ever adds at once, and the first format rule."""
        examples = await self._examples(context, trajectories, max(PLAN))
        rules = [_item(rule) for rule in _missing(context.skill, ())[:1]]
        return f"{len(examples)} worked examples.", with_texts(context.skill, [*examples, *rules])

    async def evolve(self, evolution: Evolution) -> str:
        """Add a worked example of an item that failed, or else a format rule that the skill lacks."""
        context = StepContext(evolution.skill, UpdateMode.FULL_REWRITE, None)
        examples = await self._examples(context, evolution.trajectories, 1)
        rules = [_item(rule) for rule in _missing(evolution.skill, ())[:1]]
        return fenced(with_texts(evolution.skill, examples or rules))

    async def _examples(
        self, context: StepContext, trajectories: tuple[TrajectoryRef, ...], count: int
    ) -> tuple[str, ...]:
        """Return worked examples of items that failed."""
        failed = (ref.load() for ref in trajectories if ref.hard == 0)
        fresh = [item for item in failed if _is_fresh(worked_example(item), context)]
        chosen = await self._chooser.choose(context, tuple(fresh), count) if fresh else ()
        return tuple(example for index in chosen if (example := worked_example(fresh[index])) is not None)

    async def _contents(self, context: StepContext, shown: tuple[Trajectory, ...]) -> list[str]:
        """Return the texts to add: worked examples, or a format rule where the plan or the failures give none."""
        cap = max(PLAN) if context.cap is None else context.cap
        wanted = min(PLAN[len(context.buffer) % len(PLAN)], cap)
        fresh = [item for item in shown if _is_fresh(worked_example(item), context)]
        if wanted and fresh:
            chosen = await self._chooser.choose(context, tuple(fresh), wanted)
            examples = (worked_example(fresh[index]) for index in chosen)
            return [example for example in examples if example is not None]
        return [_item(rule) for rule in _missing(context.skill, context.buffer)[: min(1, cap)]]


def worked_example(item: Trajectory) -> str | None:
    """Return the text that shows a solved item, or None where its gold may not be seen or it is too long."""
    if not item.gold or not item.question:
        return None
    text = f"{item.question.strip()}\n{TAG} {item.gold[0].strip()}"
    return text if len(text) <= MAX_EXAMPLE_CHARS else None


def _is_fresh(example: str | None, context: StepContext) -> bool:
    return example is not None and example not in context.skill and example not in _rejected(context.buffer)


def _missing(skill: str, buffer: Iterable[BufferEntry]) -> list[str]:
    """Return the format rules that are neither in the skill nor just rejected."""
    rejected = _rejected(buffer)
    return [rule for rule in FORMAT_RULES if rule not in skill and _item(rule) not in rejected]


def _rejected(buffer: Iterable[BufferEntry]) -> set[str]:
    bodies = [body for entry in buffer for body in entry.rejected_edits]
    return {str(body.get("content") or body.get("instruction")) for body in bodies}


def _item(rule: str) -> str:
    return f"- {rule}"
