"""`evaluation.reuse=baseline`: the initial skill is evaluated once for all runs of a sweep that would do the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.events import BaselineShared
from reflact.core.hashing import digest
from reflact.core.names import RowStatus
from reflact.engine.evaluation import Evaluation, Plan
from reflact.engine.rows import RowStore
from reflact.engine.shared_rows import Maker, SharedRows
from reflact.engine.workbench import Workbench
from reflact.rundir.claims import inspect

LOOK_S = 0.5
"""Seconds between looks at what another run is making."""


def require_reuse(config: Config) -> None:
    """Make sure that there is a sweep to share evaluations in.

    Raises:
        ConfigError: There is none.
    """
    if config.evaluation.reuse == "baseline" and not config.sweep.root:
        raise ConfigError(
            "evaluation.reuse=baseline shares evaluations between the runs of a sweep; this is a single run: "
            "evaluation.reuse=off"
        )


async def evaluate_initial(bench: Workbench, plan: Plan, idle: Callable[[], bool] = lambda: True) -> Evaluation:
    """Evaluate the initial skill, or copy the rows of the run of the sweep that does it or has done it.

    The first run that needs an evaluation makes it, others wait for it and hold no slot and no limit meanwhile. If the
    maker dies, stops or is stuck, one of those who wait takes over.

    Args:
        bench: The run's parts.
        plan: The evaluation.
        idle: Whether the run has nothing else to do at this moment: such waiting is no working time.

    Raises:
        Stopped: As for `Evaluator.evaluate`.
    """
    config = bench.config
    if config.evaluation.reuse != "baseline" or not config.sweep.root:
        return await bench.evaluator.evaluate(plan)
    shared = _shared(bench, plan)
    if not _complete(bench, plan):
        await _obtain(bench, plan, shared, idle)
    evaluation = await bench.evaluator.evaluate(plan)
    if all(row.status is not RowStatus.ERROR for row in evaluation.rows):
        shared.publish(plan.folder)
    return evaluation


async def _obtain(bench: Workbench, plan: Plan, shared: SharedRows, idle: Callable[[], bool]) -> None:
    """Return when the rows are in the run's own folder, or it is this run that makes them."""
    told, waited, before = "", 0.0, time.monotonic()
    while True:
        bench.check()
        if shared.made:
            source = shared.copy(plan.folder, _keys(bench, plan), bench.syncer)
            bench.emit(BaselineShared(plan.folder.name, "copied", source, round(waited, 3)))
            return
        if shared.claim():
            if told:
                bench.emit(BaselineShared(plan.folder.name, "made", told, round(waited, 3)))
            return
        if not told:
            told = shared.maker() or "another run"
            bench.emit(BaselineShared(plan.folder.name, "waiting", told))
        await asyncio.sleep(LOOK_S)
        now = time.monotonic()
        waited += now - before if idle() else 0.0
        before = now


def _shared(bench: Workbench, plan: Plan) -> SharedRows:
    rows = [[bench.evaluator.keys.key(plan.skill, plan.part, t.seed), t.item.id, t.repeat] for t in plan.trials]
    root = bench.layout.root
    me = Maker(root.name, str(root), inspect(root).number)
    return SharedRows(Path(bench.config.sweep.root), digest(rows), me)


def _keys(bench: Workbench, plan: Plan) -> set[str]:
    return {bench.evaluator.keys.key(plan.skill, plan.part, trial.seed) for trial in plan.trials}


def _complete(bench: Workbench, plan: Plan) -> bool:
    """Whether the run has all rows already, from an earlier process."""
    found = RowStore(plan.folder, bench.syncer, bench.check).recover(_keys(bench, plan))
    done = {(row.id, row.repeat) for row in found.values() if row.status is not RowStatus.ERROR}
    return all((trial.item.id, trial.repeat) in done for trial in plan.trials)
