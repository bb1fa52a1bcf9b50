"""The search's steps as the run directory sees them: rollouts, reflection, gate evaluations, records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from reflact.core.names import Action, Part, Phase, Stage
from reflact.engine.batches import MicroBatch
from reflact.engine.evaluation import Evaluation, Plan, Trial
from reflact.engine.final import BackgroundTest
from reflact.engine.history import History
from reflact.engine.judge import Candidate, Judgement, measure
from reflact.engine.proposal import Proposal
from reflact.engine.scores import measured
from reflact.engine.state import Skill, TrainingState
from reflact.engine.step import StepWork, commit
from reflact.engine.workbench import Workbench
from reflact.optimizer.evolve import evolve
from reflact.optimizer.types import Evolution
from reflact.rundir.atomic import write_text
from reflact.rundir.layout import StepFolder


@dataclass(slots=True)
class Iteration:
    """What happened in one iteration so far; it becomes one step of the history."""

    step: int
    parent: str = ""
    batch: MicroBatch | None = None
    rollout: Evaluation | None = None
    child: str | None = None
    skipped: Action = Action.SKIP_NO_PATCHES
    cause: str | None = None
    sums: list[float] = field(default_factory=list)
    selection: Evaluation | None = None


class Walk:
    """Does what the search asks for.

    A walk always begins at the first iteration. Everything paid for is on disk under a key of its inputs, so an
    iteration that an earlier process did costs nothing and ends as it did.
    """

    def __init__(self, bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
        self.state = state
        self.rows_used = len(bench.trials(Part.VAL, bench.config.evaluation.gate_repeats))
        self.iteration = Iteration(0)
        self._bench = bench
        self._history = history
        self._test = test

    @property
    def _folder(self) -> StepFolder:
        return self._bench.layout.step(self.iteration.step)

    def begin(self) -> None:
        """Begin the next iteration."""
        self.iteration = Iteration(self.iteration.step + 1)

    async def roll_out(self, skill: str, indices: Sequence[int]) -> Evaluation:
        """Let the student do train items (each once): first with the parent, then with its child."""
        bench, now = self._bench, self.iteration
        seed = bench.config.train.seed + now.step
        first = now.rollout is None
        bench.forecast.rollout(1)
        items = bench.items(Part.TRAIN)
        evaluation = await bench.evaluator.evaluate(
            Plan(
                trials=tuple(Trial(items[index], seed) for index in indices),
                skill=skill,
                part=Part.TRAIN,
                stage=Stage.ROLLOUT,
                phase=Phase.TRAIN,
                folder=self._folder.rollout if first else self._folder.child_rollout,
                epoch=1,
                step=now.step,
            )
        )
        self.rows_used += len(indices)
        if first:
            now.parent, now.rollout, now.batch = skill, evaluation, MicroBatch(tuple(indices), seed)
        return evaluation

    async def reflect(self, evolution: Evolution) -> str | None:
        """Have the search's prompt answered; None if the teacher gave nothing usable."""
        bench = self._bench
        bench.forecast.teaching(1)
        reply, cause = await evolve(evolution, bench.teacher, bench.journal(self._folder.path))
        if reply is None:
            self.drop(Action.SKIP_NO_REWRITE, cause)
        else:
            self._test.teacher_works()
        return reply

    def drop(self, action: Action, cause: str | None) -> None:
        """The iteration has no candidate, and why."""
        self.iteration.skipped, self.iteration.cause = action, cause

    async def propose(self, text: str) -> None:
        """The iteration's candidate, before it is tried."""
        self.iteration.child = text
        write_text(self._folder.candidate_skill, text)

    async def measure(self, text: str) -> Evaluation:
        """Measure a candidate that joins the search's pool on the selection split; each text once."""
        bench, state, now = self._bench, self.state, self.iteration
        bench.forecast.student_wanted()
        # Forced as far as measuring goes: the search needs the score of every item, so no bound may cut it short.
        candidate = Candidate(text, f"step_{now.step:04d}", self._folder.selection, Stage.GATE, forced=True)
        evaluation = await measure(bench, state, candidate)
        if evaluation.folder.name == candidate.folder.name:
            self.rows_used += len(evaluation.rows)
        state.measured.setdefault(bench.skill_key(text), evaluation.folder.name)
        now.selection = evaluation
        return evaluation

    async def finish(self, parents: Sequence[int]) -> None:
        """Write the iteration's record and move the best skill."""
        now = self.iteration
        if now.rollout is None or now.batch is None:
            return
        proposal = self._proposal()
        judgement = self._judgement(parents)
        work = StepWork(1, now.step, now.parent, (now.batch,), now.rollout, (), None, proposal, judgement)
        commit(self._bench, self.state, self._history, work)

    def _proposal(self) -> Proposal:
        now = self.iteration
        if now.child is None:
            detail = {} if now.cause is None else {"rewrite_cause": now.cause}
            return Proposal(None, now.skipped, None, detail=detail)
        return Proposal(now.child, None, None)

    def _judgement(self, parents: Sequence[int]) -> Judgement:
        """Say what the search did: it tries a child on its parent's items, and measures what was better there."""
        now = self.iteration
        if now.child is None:
            return Judgement(now.skipped, None, None, {"parents": list(parents)})
        gate: dict[str, Any] = {"rule": "gepa", "parents": list(parents), "minibatch": now.sums}
        if now.selection is None:
            return Judgement(Action.REJECT, None, None, gate)
        folder = now.selection.folder.name
        if folder != self._folder.selection.name:
            gate["cached"] = folder
        score = measured(now.selection.rows, self._bench.metric).score
        best = self.state.best.score
        if score is None or (best is not None and score <= best):
            return Judgement(Action.ACCEPT, score, now.selection.scores, gate)
        skill = Skill(now.child, f"step_{now.step:04d}", now.step, score, folder)
        self.state.current = self.state.best = skill
        return Judgement(Action.ACCEPT_NEW_BEST, score, now.selection.scores, gate)


def item_scores(evaluation: Evaluation, metric: Any) -> dict[str, float]:
    """Return the metric of each item, the mean over its repeats."""
    rows = measured(evaluation.rows, metric).by_item
    return {item: fsum(values) / len(values) for item, values in rows.items()}
