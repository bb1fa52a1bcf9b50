"""Test evaluations: of the initial skill (in idle slots while training goes on), the best and the final skill."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from reflact.core.names import Part, Phase, Stage
from reflact.engine.evaluation import Evaluation, Plan
from reflact.engine.reuse import evaluate_initial
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench
from reflact.models.slots import BACKGROUND
from reflact.rundir.layout import EvaluationFolder

BUDGET_SHARE = 0.8
"""Share of a budget after which idle slots are left idle: the rest belongs to training."""


@dataclass(frozen=True, slots=True)
class Tests:
    """Test evaluations of a run; skills that are the same skill share one evaluation. None: no test was asked for."""

    baseline: Evaluation | None
    best: Evaluation | None
    final: Evaluation | None


class BackgroundTest:
    """The initial skill's test evaluation.

    Nothing needs it before the end, so it fills slots that other phases leave idle. It starts once the baseline
    selection is complete and a first teacher reply was accepted: a run whose teacher cannot work must not spend
    on test.

    Args:
        bench: The run's parts.
        group: The task group that ends with the run.
    """

    def __init__(self, bench: Workbench, group: asyncio.TaskGroup) -> None:
        self._bench = bench
        self._group = group
        self._task: asyncio.Task[Evaluation] | None = None
        self._awaited = False

    def teacher_works(self) -> None:
        """A teacher reply was accepted: start, if it is wanted and there is budget."""
        config = self._bench.config.evaluation
        if self._task is not None or not (config.eval_test and config.overlap_baseline_test):
            return
        if self._bench.meter.fraction_used() < BUDGET_SHARE:
            self._task = self._group.create_task(self._run(BACKGROUND))

    async def result(self) -> Evaluation:
        """Return the evaluation, with all slots free for it."""
        self._awaited = True
        if self._task is None:
            return await self._run(0)
        self._bench.forecast.student_free()
        return await self._task

    async def _run(self, priority: int) -> Evaluation:
        folder = self._bench.layout.baseline("test")
        plan = _plan(self._bench, self._bench.initial_skill, folder, Stage.BASELINE, priority)
        return await evaluate_initial(self._bench, plan, lambda: self._awaited)


async def final_tests(bench: Workbench, state: TrainingState, background: BackgroundTest) -> Tests:
    """Evaluate on test: the initial, the best and the final skill, each text once."""
    if not bench.config.evaluation.eval_test:
        return Tests(None, None, None)
    wanted = {"best": state.best.text, "final": state.current.text}
    known = {bench.skill_key(bench.initial_skill): asyncio.create_task(background.result())}
    try:
        for name, text in wanted.items():
            key = bench.skill_key(text)
            if key not in known:
                known[key] = asyncio.create_task(_test(bench, text, bench.layout.test(name)))
        await asyncio.gather(*known.values())
    finally:
        for task in known.values():
            task.cancel()
    results = {name: known[bench.skill_key(text)].result() for name, text in wanted.items()}
    return Tests(known[bench.skill_key(bench.initial_skill)].result(), results["best"], results["final"])


async def _test(bench: Workbench, text: str, folder: EvaluationFolder) -> Evaluation:
    return await bench.evaluator.evaluate(_plan(bench, text, folder, Stage.FINAL_TEST, 0))


def _plan(bench: Workbench, text: str, folder: EvaluationFolder, stage: Stage, priority: int) -> Plan:
    return Plan(
        trials=bench.trials(Part.TEST),
        skill=text,
        part=Part.TEST,
        stage=stage,
        phase=Phase.TEST,
        folder=folder,
        priority=priority,
    )
