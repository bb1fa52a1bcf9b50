"""What gepa needs of a system that it improves: evaluate, show, propose. Runs in the search's thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from gepa.core.adapter import EvaluationBatch
from gepa.strategies.instruction_proposal import InstructionProposalSignature

from reflact.core.names import Action, Part
from reflact.engine.evaluation import Evaluation
from reflact.engine.gepa.bridge import Bridge
from reflact.engine.gepa.walk import Walk, item_scores
from reflact.engine.rows import trajectory
from reflact.engine.workbench import Workbench
from reflact.optimizer import protected
from reflact.optimizer.presenting import cut_middle, show_conversation
from reflact.optimizer.types import Evolution, Trajectory, TrajectoryRef

COMPONENT = "skill"


@dataclass(frozen=True, slots=True)
class Example:
    """One item, as the search holds it."""

    part: Part
    index: int


class SkillAdapter:
    """One component, the skill without its protected block; the block is put back before a student reads it."""

    def __init__(self, bench: Workbench, walk: Walk, bridge: Bridge) -> None:
        self._bench = bench
        self._walk = walk
        self._bridge = bridge
        self._former = protected.cut(bench.initial_skill)
        self._tried: tuple[TrajectoryRef, ...] = ()

    @property
    def seed(self) -> dict[str, str]:
        """The candidate that the search begins with."""
        return {COMPONENT: self._former.outside}

    def evaluate(
        self, batch: list[Example], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[TrajectoryRef, str]:
        """Score a candidate, row by row through the harness; see `gepa.core.adapter.GEPAAdapter`."""
        skill = protected.put_back(candidate[COMPONENT], self._former)
        if batch[0].part is Part.VAL:
            evaluation = self._bridge.call(lambda: self._walk.measure(skill))
            return self._scored(batch, evaluation, ())
        indices = list(dict.fromkeys(example.index for example in batch))  # the last batch of an epoch may repeat items
        evaluation = self._bridge.call(lambda: self._walk.roll_out(skill, indices))
        gold = self._bench.gold_for_teacher
        refs = tuple(trajectory(evaluation.folder, row, gold=gold) for row in evaluation.rows)
        return self._scored(batch, evaluation, refs)

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[TrajectoryRef, str],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Show what happened on each item."""
        limit = self._bench.config.gradient.max_trajectory_chars
        self._tried = tuple(eval_batch.trajectories or ())
        return {COMPONENT: [_shown(ref.load(), limit) for ref in self._tried]}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Ask the teacher with gepa's own prompt; nothing comes back where there is no new text to try."""
        parent = candidate[COMPONENT]
        prompt = InstructionProposalSignature.prompt_renderer(
            {"current_instruction_doc": parent, "dataset_with_feedback": reflective_dataset[COMPONENT]}
        )
        assert isinstance(prompt, str), "a dataset without images gives a text"
        seed = self._bench.config.train.seed + self._walk.iteration.step
        evolution = Evolution(parent, self._tried, prompt, seed)
        reply = self._bridge.call(lambda: self._walk.reflect(evolution))
        return {} if reply is None else self._accepted(parent, reply)

    def _accepted(self, parent: str, reply: str) -> dict[str, str]:
        body = InstructionProposalSignature.output_extractor(reply.strip())["new_instruction"]
        component = body.strip("\n") + "\n"
        text = protected.put_back(component, self._former)
        if not body.strip():
            self._walk.drop(Action.SKIP_NO_REWRITE, "empty")
        elif 0 < self._bench.config.optimizer.max_skill_chars < len(text):
            self._walk.drop(Action.SKIP_NO_REWRITE, "too_long")
        elif body.strip() == parent.strip():
            self._walk.drop(Action.SKIP_NO_CHANGE, None)
        else:
            self._bridge.call(lambda: self._walk.propose(text))
            return {COMPONENT: component}
        return {}

    def _scored(
        self, batch: list[Example], evaluation: Evaluation, refs: Sequence[TrajectoryRef]
    ) -> EvaluationBatch[TrajectoryRef, str]:
        items = {part: self._bench.items(part) for part in (Part.TRAIN, Part.VAL)}
        by_item = item_scores(evaluation, self._bench.metric)
        ids = [items[example.part][example.index].id for example in batch]
        scores = [by_item[name] for name in ids]
        if refs:
            self._walk.iteration.sums.append(fsum(scores))
        return EvaluationBatch(outputs=ids, scores=scores, trajectories=list(refs) or None)


def _shown(item: Trajectory, limit: int) -> dict[str, Any]:
    """Return what the search's prompt shows of an item, in gepa's recommended form."""
    feedback = [f"{'Failed' if item.hard == 0 else 'Passed'}, partial credit {item.soft:.3f}."]
    if item.fail_reason:
        feedback.append(item.fail_reason)
    if item.gold:
        feedback.append(f"Accepted answers: {', '.join(item.gold)}")
    return {
        "Inputs": cut_middle(item.question or "", limit // 4),
        "Generated Outputs": cut_middle(show_conversation(item.conversation), limit // 2),
        "Feedback": cut_middle("\n".join(feedback), limit // 4),
    }
