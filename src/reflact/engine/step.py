"""One step: rollout, reflect, aggregate, select, update, gate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reflact.core.events import Decision
from reflact.core.names import Action, Part, Phase, Stage
from reflact.engine.batches import MicroBatch
from reflact.engine.deep import DeepReflection, deep_reflect
from reflact.engine.edit_budget import analyst_cap
from reflact.engine.evaluation import Evaluation, Plan, Trial
from reflact.engine.final import BackgroundTest
from reflact.engine.history import History
from reflact.engine.judge import Candidate, Judgement, judge
from reflact.engine.proposal import Proposal, propose
from reflact.engine.record import step_record
from reflact.engine.reflection import Reflection
from reflact.engine.speculation import Speculation, adopt_leftover, speculating
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench
from reflact.optimizer.buffer import buffer_entry
from reflact.optimizer.reflect import AnalysisRecord
from reflact.optimizer.types import StepContext
from reflact.rundir.atomic import write_json, write_text

TEACHER_CALLS = 4  # reflect, merge, final merge, rank: what usually follows a rollout


@dataclass(frozen=True, slots=True)
class StepWork:
    """What a step gave before its record is written."""

    epoch: int
    step: int
    before: str
    batches: Sequence[MicroBatch]
    rollout: Evaluation
    analyses: Sequence[AnalysisRecord]
    deep: DeepReflection | None
    proposal: Proposal
    judgement: Judgement


async def run_step(bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
    """Do the next step and save the state."""
    step = state.step + 1
    index = state.step % bench.schedule.steps_per_epoch
    batches = bench.schedule.step(state.epoch, index)
    trials = trials_of(bench, batches)
    context = step_context(bench, state, step)
    adopt_leftover(bench, step, context.skill, trials)
    rollout, analyses = await _rollout_and_reflect(bench, state, step, batches, context, test)
    deep = None
    if bench.config.gradient.use_deep_reflect and context.cap != 0:
        deep = await deep_reflect(bench, state.epoch, step, trials, rollout, context)
        analyses = [*analyses, *deep.records]
    proposal = await propose(bench, state, step, rollout, analyses, context, history)
    async with speculating(_speculation(bench, state, step, proposal)) as verdict:
        judgement = await gate(bench, state, step, proposal)
        verdict.append(judgement)
    work = StepWork(state.epoch, step, context.skill, batches, rollout, analyses, deep, proposal, judgement)
    commit(bench, state, history, work)


def trials_of(bench: Workbench, batches: Sequence[MicroBatch]) -> tuple[Trial, ...]:
    """Return the trials of a step's rollout, in batch order."""
    train = bench.items(Part.TRAIN)
    return tuple(Trial(train[i], batch.seed) for batch in batches for i in batch.indices)


def _speculation(bench: Workbench, state: TrainingState, step: int, proposal: Proposal) -> Speculation | None:
    """Start the next step's rollout if this one's candidate may be rejected; never across an epoch's end."""
    index = step % bench.schedule.steps_per_epoch
    if not (bench.config.train.speculate and bench.config.evaluation.use_gate) or index == 0:
        return None
    if proposal.text is None or bench.skill_key(proposal.text) == bench.skill_key(state.current.text):
        return None
    return Speculation(bench, state, step + 1, trials_of(bench, bench.schedule.step(state.epoch, index)))


def step_context(bench: Workbench, state: TrainingState, step: int) -> StepContext:
    """Return what every teacher call of the step may see."""
    return StepContext(
        skill=state.current.text,
        mode=bench.mode,
        cap=analyst_cap(bench, step),
        buffer=tuple(state.buffer),
        meta_skill=state.meta_skill,
        seed=bench.config.train.seed + step,
    )


async def _rollout_and_reflect(
    bench: Workbench,
    state: TrainingState,
    step: int,
    batches: Sequence[MicroBatch],
    context: StepContext,
    test: BackgroundTest,
) -> tuple[Evaluation, Sequence[AnalysisRecord]]:
    """Roll the batch out; each minibatch is reflected on as soon as its members are known."""
    folder = bench.layout.step(step).rollout
    bench.forecast.rollout(TEACHER_CALLS)
    async with asyncio.TaskGroup() as group:
        reflection = Reflection(bench, group, context, batches, bench.layout.step(step), test.teacher_works)
        rollout = await bench.evaluator.evaluate(
            Plan(
                trials=trials_of(bench, batches),
                skill=state.current.text,
                part=Part.TRAIN,
                stage=Stage.ROLLOUT,
                phase=Phase.TRAIN,
                folder=folder,
                epoch=state.epoch,
                step=step,
                on_final=reflection.feed,
            )
        )
        bench.forecast.teaching(TEACHER_CALLS)
        reflection.finish()
    return rollout, reflection.records()


async def gate(bench: Workbench, state: TrainingState, step: int, proposal: Proposal) -> Judgement:
    """Measure a step's candidate, if it has one that differs, and decide."""
    if proposal.skipped is not None:
        return Judgement(proposal.skipped, None, None, {})
    assert proposal.text is not None
    if bench.skill_key(proposal.text) == bench.skill_key(state.current.text):
        return Judgement(Action.SKIP_NO_CHANGE, None, None, {})
    folder = bench.layout.step(step)
    write_text(folder.candidate_skill, proposal.text)
    bench.forecast.student_wanted()
    state.step = step
    try:
        return await judge(bench, state, Candidate(proposal.text, f"step_{step:04d}", folder.selection, Stage.GATE))
    finally:
        state.step = step - 1


def commit(bench: Workbench, state: TrainingState, history: History, work: StepWork) -> None:
    """Write the step's record and the state that covers it."""
    action = work.judgement.action
    state.since_best = 0 if state.best.origin == f"step_{work.step:04d}" else state.since_best + 1
    state.step = work.step
    state.counts[action.value] = state.counts.get(action.value, 0) + 1
    state.buffer.append(
        buffer_entry(
            step=work.step,
            action=action.value,
            hards=[row.hard for row in work.rollout.rows if row.hard is not None],
            records=work.analyses,
            rejected=work.proposal.applied if action is Action.REJECT else (),
        )
    )
    record = step_record(bench, state, work)
    bench.check()
    write_text(bench.layout.skill(work.step), state.current.text)
    write_json(bench.layout.step(work.step).step_record, record)
    history.append(record)
    state.save(bench.layout.state)
    bench.emit(decision_event("step", work.epoch, work.step, record, state))


def decision_event(what: str, epoch: int, step: int | None, record: dict[str, Any], state: TrainingState) -> Decision:
    """Return the event that tells displays what happened to the skill."""
    return Decision(
        what=what,
        epoch=epoch,
        step=step,
        action=record["action"],
        candidate_score=record["candidate"]["score"] if record["candidate"] else None,
        current_score=state.current.score,
        best_score=state.best.score,
        edits_applied=record["edits"]["applied"],
        edit_budget=record["edits"]["budget"],
        skill_chars=len(state.current.text),
        preview=record["edits"]["preview"],
    )
