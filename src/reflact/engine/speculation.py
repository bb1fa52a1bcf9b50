"""Rolling the next batch out while a candidate is still at the gate (`train.speculate`).

Most candidates are rejected, and then the next step uses the current skill. Its rollout therefore starts in the slots
that the gate's evaluation leaves idle, in a folder of its own: if the candidate is rejected the rows move to the
next step, if not they are thrown away and counted. Nothing in history, skills or scores depends on it.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from reflact.core.events import StageDone
from reflact.core.names import Action, Part, Phase, Stage
from reflact.engine.evaluation import Evaluation, Plan, Trial
from reflact.engine.judge import Judgement
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench
from reflact.rundir.jsonl import read_jsonl
from reflact.rundir.layout import EvaluationFolder

PRIORITY = 5
"""Behind everything that the loop waits for, before background work."""


class Speculation:
    """The rollout of one step, begun before it is known whether its skill stays.

    Args:
        bench: The run's parts.
        state: The state while the candidate is at the gate.
        step: The step whose rollout it is.
        trials: That step's trials.
    """

    def __init__(self, bench: Workbench, state: TrainingState, step: int, trials: Sequence[Trial]) -> None:
        self._bench = bench
        self._epoch = state.epoch
        self._step = step
        self._folder = speculative_folder(bench, step)
        self._task: asyncio.Task[Evaluation] = asyncio.ensure_future(
            bench.evaluator.evaluate(
                Plan(
                    trials=trials,
                    skill=state.current.text,
                    part=Part.TRAIN,
                    stage=Stage.ROLLOUT,
                    phase=Phase.TRAIN,
                    folder=self._folder,
                    epoch=state.epoch,
                    step=step,
                    priority=PRIORITY,
                )
            )
        )

    async def keep(self) -> None:
        """The skill stays: finish the rollout and hand it to its step."""
        await self._task
        self._bench.check()
        target = self._bench.layout.step(self._step).rollout.path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            self._folder.path.rename(target)

    async def discard(self) -> None:
        """The skill changed, or the run ends: stop, and throw the rows away."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._bench.check()
        rows = sum(1 for _ in read_jsonl(self._folder.results))
        shutil.rmtree(self._folder.path, ignore_errors=True)
        self._bench.emit(StageDone("speculation", self._epoch, self._step, {"discarded_rows": rows}))

    async def abandon(self) -> None:
        """The gate failed: leave the rows for a resumed run."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def speculative_folder(bench: Workbench, step: int) -> EvaluationFolder:
    """Return where the rows of a step's early rollout are until it is known whether they count."""
    return bench.layout.evaluation(f"speculation/step_{step:04d}")


def adopt_leftover(bench: Workbench, step: int, skill: str, trials: Sequence[Trial]) -> None:
    """Take over what a killed process rolled out early for this step, if it was with this skill."""
    folder = speculative_folder(bench, step).path
    target = bench.layout.step(step).rollout.path
    if not folder.exists():
        return
    keys = {bench.evaluator.keys.key(skill, Part.TRAIN, trial.seed) for trial in trials}
    rows = speculative_folder(bench, step).results
    if target.exists() or any(row["key"] not in keys for _, row in read_jsonl(rows)):
        shutil.rmtree(folder, ignore_errors=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(target)
    _remove_if_empty(folder.parent)


def _remove_if_empty(folder: Path) -> None:
    if folder.exists() and not any(folder.iterdir()):
        folder.rmdir()


@asynccontextmanager
async def speculating(speculation: Speculation | None) -> AsyncIterator[list[Judgement]]:
    """Hold an early rollout while the block judges the candidate; the block puts the judgement into the list."""
    verdict: list[Judgement] = []
    try:
        yield verdict
    except BaseException:
        if speculation is not None:
            await speculation.abandon()
        raise
    if speculation is None:
        return
    if verdict and verdict[0].action is Action.REJECT:
        await speculation.keep()
    else:
        await speculation.discard()
