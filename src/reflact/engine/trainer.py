"""The loop: baseline, epochs of steps, epoch-end updates, final tests."""

from __future__ import annotations

import asyncio

from reflact.core.names import StopReason
from reflact.engine.epoch_end import end_epoch
from reflact.engine.final import BackgroundTest, Tests, final_tests
from reflact.engine.history import History
from reflact.engine.judge import measure_baseline
from reflact.engine.state import TrainingState
from reflact.engine.step import run_step
from reflact.engine.workbench import Workbench
from reflact.rundir.atomic import write_text


async def run_training(bench: Workbench) -> tuple[TrainingState, Tests]:
    """Train from where the run directory stands to the end.

    Raises:
        Stopped: The run can be resumed.
        Unavailable: A service or credential is missing.
    """
    async with asyncio.TaskGroup() as background:
        state = TrainingState.load(bench.layout.state) or await measure_baseline(bench)
        test = BackgroundTest(bench, background)
        history = History(bench.layout, state)
        while state.ended is None:
            await _epoch(bench, state, history, test)
        bench.check()
        write_text(bench.layout.best_skill, state.best.text)
        tests = await final_tests(bench, state, test)
    return state, tests


async def _epoch(bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
    """Finish the epoch under way."""
    schedule = bench.schedule
    last = state.epoch * schedule.steps_per_epoch
    while state.step < last:
        if _ended(bench, state):
            return
        await run_step(bench, state, history, test)
    if _ended(bench, state):
        return
    await end_epoch(bench, state, history)
    if state.epoch == schedule.epochs:
        _finish(bench, state, StopReason.COMPLETED)
        return
    state.previous_epoch = state.current.text
    state.epoch += 1
    state.buffer = []
    state.epoch_end_done = []
    state.save(bench.layout.state)


def _ended(bench: Workbench, state: TrainingState) -> bool:
    """End training early where the configuration says so."""
    config = bench.config
    if 0 < config.optimizer.patience <= state.since_best:
        _finish(bench, state, StopReason.PATIENCE)
    elif nothing_to_gain(bench, state):
        _finish(bench, state, StopReason.PERFECT_SCORE)
    return state.ended is not None


def nothing_to_gain(bench: Workbench, state: TrainingState) -> bool:
    """Whether the selection score is perfect and no rule could accept anything any more."""
    config = bench.config
    forced = config.optimizer.use_slow_update and config.optimizer.slow_update_gate == "forced"
    strict = config.evaluation.use_gate and config.evaluation.gate_rule == "strict"
    return config.train.stop_at_perfect and strict and not forced and state.current.score == 1.0


def _finish(bench: Workbench, state: TrainingState, reason: StopReason) -> None:
    state.ended = reason
    state.save(bench.layout.state)
