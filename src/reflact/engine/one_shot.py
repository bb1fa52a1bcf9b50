"""The method `one_shot`, a baseline: the teacher reads one batch and writes the skill once."""

from __future__ import annotations

from reflact.core.names import Action, Part, Phase, RowStatus, Stage, StopReason
from reflact.engine.evaluation import Evaluation, Plan
from reflact.engine.final import BackgroundTest
from reflact.engine.history import History
from reflact.engine.proposal import Proposal
from reflact.engine.rows import trajectory
from reflact.engine.state import TrainingState
from reflact.engine.step import StepWork, commit, gate, trials_of
from reflact.engine.workbench import Workbench
from reflact.optimizer.one_shot import write_once
from reflact.optimizer.types import StepContext, UpdateMode
from reflact.rundir.atomic import write_json


class OneShotMethod:
    """One step: the rollout that the loop would begin with, one call, one candidate at the gate."""

    async def improve(self, bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
        """Write the skill and let the gate decide."""
        if state.step == 0:
            await _only_step(bench, state, history, test)
        state.finish(StopReason.COMPLETED, bench.layout.state)


async def _only_step(bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
    batches = bench.schedule.step(1, 0)
    context = StepContext(state.current.text, UpdateMode.FULL_REWRITE, None, seed=bench.config.train.seed + 1)
    bench.forecast.rollout(1)
    rollout = await bench.evaluator.evaluate(
        Plan(
            trials=trials_of(bench, batches),
            skill=context.skill,
            part=Part.TRAIN,
            stage=Stage.ROLLOUT,
            phase=Phase.TRAIN,
            folder=bench.layout.step(1).rollout,
            epoch=1,
            step=1,
        )
    )
    bench.forecast.teaching(1)
    proposal = await _propose(bench, rollout, context, test)
    judgement = await gate(bench, state, 1, proposal)
    commit(bench, state, history, StepWork(1, 1, context.skill, batches, rollout, (), None, proposal, judgement))


async def _propose(bench: Workbench, rollout: Evaluation, context: StepContext, test: BackgroundTest) -> Proposal:
    folder = bench.layout.step(1)
    refs = [
        trajectory(rollout.folder, row, gold=bench.gold_for_teacher)
        for row in rollout.rows
        if row.status is not RowStatus.ERROR
    ]
    if not refs:
        return Proposal(None, Action.SKIP_NO_PATCHES, None)
    limit = bench.config.optimizer.max_skill_chars
    written = await write_once(context, refs, bench.teacher, bench.journal(folder.path), limit)
    write_json(folder.one_shot_result, written.to_json())
    if written.text is None:
        return Proposal(None, Action.SKIP_NO_REWRITE, None, detail={"rewrite_cause": written.cause})
    test.teacher_works()
    return Proposal(written.text, None, None)
