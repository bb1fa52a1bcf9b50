"""At the gate: a candidate is measured on the selection split and taken or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflact.core.names import Action, Part, Phase, Stage
from reflact.engine.evaluation import Bound, Evaluation, Plan
from reflact.engine.gate import Measured, PrefixBound
from reflact.engine.reuse import evaluate_initial
from reflact.engine.rows import RowStore
from reflact.engine.scores import RowRef, Scores, SelectionScores, measured, scores_of
from reflact.engine.state import Skill, TrainingState
from reflact.engine.workbench import Workbench
from reflact.rundir.atomic import write_text
from reflact.rundir.layout import EvaluationFolder


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that wants to become the current skill.

    Attributes:
        text: The document.
        origin: Which step or update made it.
        folder: Where its evaluation goes.
        stage: Stage that pays for it.
        forced: Take it whatever its score.
    """

    text: str
    origin: str
    folder: EvaluationFolder
    stage: Stage
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gate did.

    Attributes:
        action: What happened to the skill.
        score: The candidate's measured metric; None if it was rejected by a bound.
        scores: Its scores; None if it was rejected by a bound.
        gate: The gate record for the history.
    """

    action: Action
    score: float | None
    scores: Scores | None
    gate: Mapping[str, Any]


async def measure_baseline(bench: Workbench) -> TrainingState:
    """Evaluate the initial skill on the selection split; it is current and best."""
    folder = bench.layout.baseline("selection")
    evaluation = await evaluate_initial(bench, _plan(bench, bench.initial_skill, folder, Stage.BASELINE))
    score = measured(evaluation.rows, bench.metric).score
    skill = Skill(bench.initial_skill, "initial", 0, score, folder.name)
    state = TrainingState(skill, skill, measured={bench.skill_key(skill.text): folder.name})
    write_text(bench.layout.skill(0), skill.text)
    state.save(bench.layout.state)
    return state


async def judge(bench: Workbench, state: TrainingState, candidate: Candidate) -> Judgement:
    """Measure a candidate, decide, and move current and best."""
    key, current_key = bench.skill_key(candidate.text), bench.skill_key(state.current.text)
    if state.hopeless.get(key) == current_key and not candidate.forced:
        return Judgement(Action.REJECT, None, None, {"bound": "known", "cached": True})
    evaluation = await measure(bench, state, candidate)
    if evaluation.rejected_at is not None:
        state.hopeless[key] = current_key
        n = len(bench.trials(Part.VAL, bench.config.evaluation.gate_repeats))
        # How many rows beyond the bound were done all the same is a matter of time, so it is none of the history's.
        gate = {"bound": evaluation.rejected_at, "n": n}
        return Judgement(Action.REJECT, None, None, gate)
    state.measured.setdefault(key, evaluation.folder.name)
    mine = measured(evaluation.rows, bench.metric)
    current = measured(await _rows(bench, state.current.text, state.current.folder), bench.metric)
    action, detail = _decide(bench, state, candidate, mine, current)
    if action is not Action.REJECT:
        _take(state, candidate, mine, evaluation, action)
    cached = {"cached": evaluation.folder.name} if evaluation.folder.name != candidate.folder.name else {}
    return Judgement(action, mine.score, evaluation.scores, {**detail, **cached})


def _decide(
    bench: Workbench, state: TrainingState, candidate: Candidate, mine: Measured, current: Measured
) -> tuple[Action, Mapping[str, Any]]:
    better = mine.score is not None and (state.best.score is None or mine.score > state.best.score)
    if candidate.forced or not bench.config.evaluation.use_gate:
        return Action.FORCE_ACCEPT, {"rule": "forced", "new_best": better}
    verdict = bench.rule.decide(mine, current)
    if not verdict.accept:
        return Action.REJECT, verdict.detail
    return (Action.ACCEPT_NEW_BEST if better else Action.ACCEPT), verdict.detail


def _take(state: TrainingState, candidate: Candidate, mine: Measured, evaluation: Evaluation, action: Action) -> None:
    skill = Skill(candidate.text, candidate.origin, state.step, mine.score, evaluation.folder.name)
    better = mine.score is not None and (state.best.score is None or mine.score > state.best.score)
    state.current = skill
    if better and action in (Action.ACCEPT_NEW_BEST, Action.FORCE_ACCEPT):
        state.best = skill
        state.since_best = 0


async def measure(bench: Workbench, state: TrainingState, candidate: Candidate) -> Evaluation:
    """Evaluate a text, or read what was measured for it before."""
    known = state.measured.get(bench.skill_key(candidate.text))
    if known is not None:
        rows = await _rows(bench, candidate.text, known)
        return Evaluation(bench.layout.evaluation(known), rows, scores_of(rows))
    bound = None
    config = bench.config.evaluation
    if config.early_reject and config.use_gate and config.gate_rule == "strict" and not candidate.forced:
        current = await _rows(bench, state.current.text, state.current.folder)
        values = [bench.metric(row.hard, row.soft) for row in current if row.hard is not None and row.soft is not None]
        bound = Bound(PrefixBound(values), bench.metric)
    return await bench.evaluator.evaluate(
        _plan(bench, candidate.text, candidate.folder, candidate.stage, state=state, bound=bound)
    )


async def _rows(bench: Workbench, text: str, name: str) -> tuple[RowRef, ...]:
    """Return the selection rows of a measured skill, in split order; rows that a crash lost are made again."""
    folder = bench.layout.evaluation(name)
    trials = bench.trials(Part.VAL, bench.config.evaluation.gate_repeats)
    keys = {trial.seed: bench.evaluator.keys.key(text, Part.VAL, trial.seed) for trial in trials}
    found = RowStore(folder, bench.syncer, bench.check).recover(set(keys.values()))
    rows = [found.get((keys[trial.seed], trial.item.id, trial.repeat)) for trial in trials]
    kept = tuple(row for row in rows if row is not None)
    if len(kept) == len(rows):
        return kept
    return (await bench.evaluator.evaluate(_plan(bench, text, folder, Stage.GATE))).rows


def _plan(
    bench: Workbench,
    text: str,
    folder: EvaluationFolder,
    stage: Stage,
    *,
    state: TrainingState | None = None,
    bound: Bound | None = None,
) -> Plan:
    return Plan(
        trials=bench.trials(Part.VAL, bench.config.evaluation.gate_repeats),
        skill=text,
        part=Part.VAL,
        stage=stage,
        phase=Phase.SELECTION,
        folder=folder,
        epoch=state.epoch if state else None,
        step=state.step if state else 0,
        bound=bound,
    )


async def selection_scores(bench: Workbench, state: TrainingState) -> SelectionScores:
    """Return the selection scores of the initial, the best and the final skill from their rows."""
    initial = await _rows(bench, bench.initial_skill, bench.layout.baseline("selection").name)
    best = await _rows(bench, state.best.text, state.best.folder)
    final = await _rows(bench, state.current.text, state.current.folder)
    return SelectionScores(scores_of(initial), scores_of(best), scores_of(final))
