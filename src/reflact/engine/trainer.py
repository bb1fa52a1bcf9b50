"""A training run: baseline, the method's work on the skill, final tests."""

from __future__ import annotations

import asyncio

from reflact.core.events import Warned
from reflact.engine.final import BackgroundTest, Tests, final_tests
from reflact.engine.history import History, read_history
from reflact.engine.judge import measure_baseline
from reflact.engine.method import make_method
from reflact.engine.state import TrainingState
from reflact.engine.unaltered import require_unaltered
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
        if history.missing:
            bench.emit(
                Warned("history_incomplete", f"history.jsonl lacks {history.missing} records of steps done before")
            )
        require_unaltered(bench.layout, state, read_history(bench.layout), bench.initial_skill)
        if state.ended is None:
            method = make_method(bench.config.optimizer.name)
            await method.improve(bench, state, history, test)
        bench.check()
        write_text(bench.layout.best_skill, state.best.text)
        tests = await final_tests(bench, state, test)
    return state, tests
