"""Deep reflect: representative items are done again under a diagnostic instruction, and reflected on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.events import StageDone
from reflact.core.names import Part, Phase, RowStatus, Stage
from reflact.engine.evaluation import Evaluation, Plan, Trial
from reflact.engine.rows import trajectory
from reflact.engine.workbench import Workbench
from reflact.optimizer.deep_reflect import Diagnosis, diagnose, representatives
from reflact.optimizer.reflect import AnalysisRecord, Minibatcher, analyse
from reflact.optimizer.types import StepContext

HEADING = "## While working on this task"


@dataclass(frozen=True, slots=True)
class DeepReflection:
    """What a deep reflect gave.

    Attributes:
        records: Analyses of the diagnostic trajectories, failures first.
        items: Ids of the items that were done again.
        diagnosis: The instruction, or why there is none.
    """

    records: tuple[AnalysisRecord, ...]
    items: tuple[str, ...]
    diagnosis: Diagnosis


async def deep_reflect(
    bench: Workbench, epoch: int, step: int, trials: Sequence[Trial], rollout: Evaluation, context: StepContext
) -> DeepReflection:
    """Choose items, have an instruction written, roll them out again and analyse what is seen.

    The instruction stands below the skill in the student's prompt and nowhere else: it never becomes part of it.

    Args:
        bench: The run's parts.
        epoch: The epoch.
        step: The global step.
        trials: The step's trials, aligned with the rollout's rows.
        rollout: The normal rollout.
        context: What every call may see.
    """
    gradient = bench.config.gradient
    folder = bench.layout.step(step)
    journal = bench.journal(folder.path)
    gold = bench.gold_for_teacher
    scored = {
        row.id: trial for row, trial in zip(rollout.rows, trials, strict=True) if row.status is not RowStatus.ERROR
    }
    refs = [trajectory(rollout.folder, row, gold=gold) for row in rollout.rows if row.status is not RowStatus.ERROR]
    chosen = representatives(refs, gradient.deep_reflect_failures, gradient.deep_reflect_successes)
    diagnosis = await diagnose(chosen, context, bench.teacher, journal)
    items = tuple(ref.id for ref in chosen)
    if diagnosis.instruction is None:
        return DeepReflection((), items, diagnosis)
    again = await bench.evaluator.evaluate(
        Plan(
            trials=tuple(scored[item] for item in items),
            skill=f"{context.skill.rstrip()}\n\n{HEADING}\n\n{diagnosis.instruction}\n",
            part=Part.TRAIN,
            stage=Stage.DEEP_REFLECT,
            phase=Phase.TRAIN,
            folder=folder.deep_rollout,
            epoch=epoch,
            step=step,
        )
    )
    minibatcher = Minibatcher(gradient.minibatch_size, gradient.failure_only, "deep_")
    minibatches = [
        minibatch
        for row in again.rows
        if row.status is not RowStatus.ERROR
        for minibatch in minibatcher.add(trajectory(again.folder, row, gold=gold))
    ]
    ordered = sorted([*minibatches, *minibatcher.finish()], key=lambda minibatch: minibatch.place)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(analyse(one, context, bench.teacher, journal)) for one in ordered]
    bench.emit(StageDone(Stage.DEEP_REFLECT.value, epoch, step, {"items": len(items), "minibatches": len(ordered)}))
    return DeepReflection(tuple(task.result() for task in tasks), items, diagnosis)
