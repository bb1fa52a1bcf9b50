"""The method `reflact`: epochs of steps, with the updates at each epoch's end."""

from __future__ import annotations

from reflact.core.names import StopReason
from reflact.engine.epoch_end import end_epoch
from reflact.engine.final import BackgroundTest
from reflact.engine.history import History
from reflact.engine.state import TrainingState
from reflact.engine.step import run_step
from reflact.engine.workbench import Workbench


class Loop:
    """Goes on from any saved state."""

    async def improve(self, bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
        """Do the epochs that are not done yet."""
        while state.ended is None:
            await _epoch(bench, state, history, test)


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
        state.finish(StopReason.COMPLETED, bench.layout.state)
        return
    state.previous_epoch = state.current.text
    state.epoch += 1
    state.buffer = []
    state.epoch_end_done = []
    state.save(bench.layout.state)


def _ended(bench: Workbench, state: TrainingState) -> bool:
    """End training early where the configuration says so."""
    if 0 < bench.config.optimizer.patience <= state.since_best:
        state.finish(StopReason.PATIENCE, bench.layout.state)
    elif nothing_to_gain(bench, state):
        state.finish(StopReason.PERFECT_SCORE, bench.layout.state)
    return state.ended is not None


def nothing_to_gain(bench: Workbench, state: TrainingState) -> bool:
    """Whether the selection score is perfect and no rule could accept anything any more."""
    config = bench.config
    forced = config.optimizer.use_slow_update and config.optimizer.slow_update_gate == "forced"
    strict = config.evaluation.use_gate and config.evaluation.gate_rule == "strict"
    return config.train.stop_at_perfect and strict and not forced and state.current.score == 1.0
