"""Teacher `rehearsal`: a simulated teacher that finds the benchmark's hidden rules, and errs now and then.

It knows the rules that help a simulated student (`Benchmark.rules`), reveals a few at a time when it is shown
failures of their kind, and mixes in advice that helps nothing. Everything is drawn from hashes of the seed and of
what the call sees, so that order and concurrency change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial

from reflact.config.operation import RehearsalConfig
from reflact.core.hashing import digest
from reflact.core.names import Phase, Stage
from reflact.core.types import Json, Rule
from reflact.models.chance import chance
from reflact.optimizer.plain_stages import carried_out, change_bodies, fenced, merged, with_texts
from reflact.optimizer.protected import skill_key
from reflact.optimizer.provenance import by_support
from reflact.optimizer.rehearsal_calls import Calls
from reflact.optimizer.types import (
    Analysis,
    Change,
    Comparison,
    EpochReview,
    Evidence,
    Evolution,
    FailureType,
    LearningRate,
    Merge,
    Op,
    PairKind,
    Patch,
    Source,
    StepContext,
    TrajectoryRef,
    UpdateMode,
)

VERSION = 1
MOST_FINDINGS = 2
"""Texts that one analysis of failures proposes at most, whatever the edit cap."""
SUCCESS_EDIT_RATE = 0.4
"""Share of analyses of successes that propose something; it never helps."""
USELESS = (
    "Read the task twice before you begin.",
    "Think about what the question really wants.",
    "Take your time and stay calm.",
    "Prefer short words over long ones.",
    "Check your work once more at the end.",
    "Imagine that you explain the answer to a colleague.",
    "Do not be distracted by details.",
    "Keep the goal in mind at every moment.",
    "Begin with what you know best.",
    "If you are unsure, choose the likelier reading.",
    "Stay consistent from the first word to the last.",
    "Treat every item as if it were the first.",
)
_NO_SUCH_LINE = "- (a line that the skill does not hold)"


class RehearsalTeacher:
    """Implements `Teacher` by simulation.

    Args:
        settings: Seed and share of useless edits.
        rules: The benchmark's hidden rules.
        calls: Where calls are paid.
    """

    def __init__(self, settings: RehearsalConfig, rules: Sequence[Rule], calls: Calls) -> None:
        self._settings = settings
        self._rules = tuple(rules)
        self._calls = calls

    @property
    def fingerprint(self) -> str:
        """Hash over seed, rate of useless edits and rules."""
        rules = [asdict(rule) for rule in self._rules]
        return digest(["rehearsal", VERSION, self._settings.seed, self._settings.useless_edit_rate, rules])

    async def analyse(self, context: StepContext, source: Source, trajectories: tuple[TrajectoryRef, ...]) -> Analysis:
        """Find a rule or two behind failures; say little about successes."""
        key = [context.seed, skill_key(context.skill), source.value, [ref.id for ref in trajectories]]
        kinds = {ref.task_type for ref in trajectories}
        cap = MOST_FINDINGS if context.cap is None else context.cap
        if source is Source.FAILURE:
            wanted = 1 + int(self._chance("count", *key) * MOST_FINDINGS)
            contents = self._findings(context, kinds, min(wanted, cap), key)
        else:
            wanted = 1 if self._chance("success", *key) < SUCCESS_EDIT_RATE else 0
            contents = [f"- {text}" for text in self._useless(context.skill, min(wanted, cap), key)]
        why = f"{len(trajectories)} trajectories ({source.value}); simulated."
        changes = self._spoilt(change_bodies(context.mode, context.skill, contents, why), context, key)
        analysis = Analysis(
            reasoning=why,
            changes=changes,
            failure_types=_failure_types(trajectories) if source is Source.FAILURE else (),
            success_patterns=() if source is Source.FAILURE else ("The replies had the wanted form.",),
        )
        prompt = _prompt(context, [json.dumps(asdict(ref.load()), default=str) for ref in trajectories])
        await self._calls.make(Stage.REFLECT, Phase.TRAIN, prompt, asdict(analysis))
        return analysis

    async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
        """Concatenate, equal changes once."""
        merge = merged(patches, context.mode)
        prompt = _prompt(context, [json.dumps(asdict(patch)) for patch in patches])
        await self._calls.make(Stage.AGGREGATE, Phase.TRAIN, prompt, asdict(merge))
        return merge

    async def rank(self, context: StepContext, changes: tuple[Change, ...], budget: int) -> tuple[int, ...]:
        """Order by support with a little noise, as taste would."""
        ranked = sorted(
            enumerate(by_support(changes)),
            key=lambda place: place[0] + 2 * self._chance("rank", context.seed, dict(changes[place[1]].body)),
        )
        indices = tuple(index for _, index in ranked)[:budget]
        prompt = _prompt(context, [json.dumps(asdict(change)) for change in changes])
        await self._calls.make(Stage.SELECT, Phase.TRAIN, prompt, list(indices))
        return indices

    async def choose_learning_rate(self, context: StepContext, evidence: Evidence) -> LearningRate:
        """Choose larger steps the more there is to mend."""
        most = len(evidence.changes)
        rate = LearningRate(
            learning_rate=min(most, max(1, round(most * (1.0 - evidence.hard)))) if most else 0,
            reasoning=f"{evidence.hard:.0%} of {evidence.n} items are right.",
            confidence="low" if evidence.n < 8 else "medium",
            risk_notes="Simulated.",
        )
        await self._calls.make(Stage.LEARNING_RATE, Phase.TRAIN, _prompt(context, []), asdict(rate))
        return rate

    async def rewrite(self, context: StepContext, changes: tuple[Change, ...]) -> tuple[str, str]:
        """Carry suggestions out at the end of the skill."""
        skill = carried_out(context.skill, changes)
        summary = f"Carried out {len(changes)} suggestions."
        prompt = _prompt(context, [json.dumps(asdict(change)) for change in changes])
        await self._calls.make(Stage.REWRITE, Phase.TRAIN, prompt, {"skill": skill, "change_summary": summary})
        return skill, summary

    async def guide(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Add what the items that still fail are missing to the former guidance."""
        failing = [pair for pair in comparison.pairs if pair.kind in (PairKind.REGRESSED, PairKind.PERSISTENT_FAIL)]
        key = ["guide", skill_key(comparison.current_skill), former, [pair.id for pair in failing]]
        kinds = {pair.current.task_type for pair in failing}
        context = StepContext(comparison.current_skill + former, UpdateMode.PATCH, None)
        added = self._findings(context, kinds, 1, key) if failing else []
        reasoning = f"{len(failing)} of {len(comparison.pairs)} pairs fail under the current skill; simulated."
        content = "\n".join(part for part in (former.strip(), *added) if part) or "Keep to the rules above."
        await self._compared(Stage.SLOW_UPDATE, comparison, former, reasoning, content)
        return reasoning, content

    async def remember(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Note what kinds of items fail."""
        counts = {kind.value: sum(pair.kind is kind for pair in comparison.pairs) for kind in PairKind}
        reasoning = "Counted the pairs; simulated."
        content = "Pairs of the last epoch: " + ", ".join(f"{count} {name}" for name, count in counts.items()) + "."
        await self._compared(Stage.META_SKILL, comparison, former, reasoning, content)
        return reasoning, content

    async def review(self, review: EpochReview, cap: int) -> tuple[str, Analysis]:
        """Look back on the epoch and propose one more text."""
        summary = f"Epoch {review.epoch}: {len(review.records)} records; simulated."
        key = ["review", review.epoch, skill_key(review.skill)]
        context = StepContext(review.skill, UpdateMode.PATCH, cap)
        contents = self._findings(context, set(), min(1, cap), key)
        analysis = Analysis(summary, change_bodies(UpdateMode.PATCH, review.skill, contents, summary))
        prompt = _prompt(context, [json.dumps(list(review.records), default=str), review.meta_summary])
        await self._calls.make(Stage.META_REFLECT, Phase.TRAIN, prompt, [summary, asdict(analysis)])
        return summary, analysis

    async def diagnose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> str:
        """Ask the student to think aloud."""
        instruction = "Name the rule that you follow at each step before you answer."
        prompt = _prompt(context, [ref.id for ref in trajectories])
        await self._calls.make(Stage.DEEP_REFLECT, Phase.TRAIN, prompt, instruction)
        return instruction

    async def compose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> tuple[str, str]:
        """Add as many findings as one look at a batch gives."""
        kinds = {ref.task_type for ref in trajectories if ref.hard == 0}
        key = [context.seed, "compose", skill_key(context.skill), [ref.id for ref in trajectories]]
        skill = with_texts(context.skill, self._findings(context, kinds, MOST_FINDINGS, key))
        reasoning = f"{len(trajectories)} trajectories; simulated."
        prompt = _prompt(context, [json.dumps(asdict(ref.load()), default=str) for ref in trajectories])
        await self._calls.make(Stage.REWRITE, Phase.TRAIN, prompt, {"reasoning": reasoning, "skill": skill})
        return reasoning, skill

    async def evolve(self, evolution: Evolution) -> str:
        """Add one finding about the items that failed."""
        kinds = {ref.task_type for ref in evolution.trajectories if ref.hard == 0}
        key = [evolution.seed, "evolve", skill_key(evolution.skill), [ref.id for ref in evolution.trajectories]]
        context = StepContext(evolution.skill, UpdateMode.FULL_REWRITE, None)
        reply = fenced(with_texts(evolution.skill, self._findings(context, kinds, 1, key)))
        await self._calls.make(Stage.REFLECT, Phase.TRAIN, evolution.prompt, reply)
        return reply

    async def _compared(self, stage: Stage, comparison: Comparison, former: str, reasoning: str, content: str) -> None:
        texts = [comparison.previous_skill, comparison.current_skill, former]
        pairs = [f"{pair.id} {pair.kind.value}" for pair in comparison.pairs]
        await self._calls.make(stage, Phase.SLOW, "\n\n".join([*texts, *pairs]), [reasoning, content])

    def _chance(self, *key: Json) -> float:
        return chance(self._settings.seed, "teacher", *key)

    def _findings(self, context: StepContext, kinds: set[str], count: int, key: list[Json]) -> list[str]:
        """Return new texts: hidden rules that concern the kinds of items (empty: any), and useless ones by chance."""
        draw = partial(self._chance, *key)
        tried = _rejected(context)
        open_rules = [
            rule.text
            for rule in self._rules
            if rule.text not in context.skill
            and rule.text not in tried
            and (not kinds or not rule.task_types or kinds & set(rule.task_types))
        ]
        open_rules.sort(key=lambda text: draw("rule", text))
        useless = self._useless(context.skill, count, key)
        texts: list[str] = []
        for index in range(count):
            errs = draw("useless", index) < self._settings.useless_edit_rate
            pool = useless if errs or not open_rules else open_rules
            if pool:
                texts.append(pool.pop(0))
        return [f"- {text}" for text in texts]

    def _useless(self, skill: str, count: int, key: list[Json]) -> list[str]:
        """Return advice that helps nothing and is not in the skill."""
        fresh = [text for text in USELESS if text not in skill]
        return sorted(fresh, key=lambda text: self._chance("advice", text, *key))[:count]

    def _spoilt(
        self, bodies: tuple[dict[str, Json], ...], context: StepContext, key: list[Json]
    ) -> tuple[Mapping[str, Json], ...]:
        """Give an edit now and then a target that is not there, as real teachers do."""
        if context.mode is not UpdateMode.PATCH:
            return bodies
        rate = self._settings.useless_edit_rate / 4
        return tuple(
            {"op": Op.REPLACE.value, "target": _NO_SUCH_LINE, "content": body["content"]}
            if self._chance("target", index, *key) < rate
            else body
            for index, body in enumerate(bodies)
        )


def _failure_types(trajectories: Sequence[TrajectoryRef]) -> tuple[FailureType, ...]:
    kinds = list(dict.fromkeys(ref.task_type for ref in trajectories))
    return tuple(
        FailureType(
            failure_type=f"missed {kind}".strip() if kind else "missed",
            count=sum(ref.task_type == kind for ref in trajectories),
            description="The reply is not the expected answer.",
        )
        for kind in kinds
    )


def _prompt(context: StepContext, parts: Sequence[str]) -> str:
    """Return about what a real prompt would hold, so that its length can be counted."""
    buffer = [json.dumps(asdict(entry), default=str) for entry in context.buffer]
    return "\n\n".join([context.skill, context.meta_skill, *buffer, *parts])


def _rejected(context: StepContext) -> str:
    values = (value for entry in context.buffer for body in entry.rejected_edits for value in body.values())
    return "\n".join(value for value in values if isinstance(value, str))
