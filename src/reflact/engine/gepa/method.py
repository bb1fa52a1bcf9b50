"""The method `gepa`, a baseline: a search by reflective mutation, with our student, teacher, budget and record."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any, cast

from gepa.api import optimize

from reflact.core.events import Warned
from reflact.core.names import Part
from reflact.engine.final import BackgroundTest
from reflact.engine.gepa.adapter import Example, SkillAdapter
from reflact.engine.gepa.bridge import Bridge
from reflact.engine.gepa.stop import Stop
from reflact.engine.gepa.walk import Walk
from reflact.engine.history import History
from reflact.engine.judge import measure_baseline
from reflact.engine.planned_rows import loop_rows
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench

FEW_PROPOSALS = 3
_LOG = logging.getLogger(__name__)


class GepaMethod:
    """Walks the search from its beginning; what an earlier process paid for is read."""

    async def improve(self, bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
        """Search until the rows are used up."""
        if state.step > 0:
            await _restart(bench, state)
            history = History(bench.layout, state)
        walk, bridge = Walk(bench, state, history, test), Bridge()
        rows, most = _budget(bench, walk)
        stop = Stop(bench, walk, rows, most)
        adapter = SkillAdapter(bench, walk, bridge)
        await bridge.run(lambda: _search(bench, adapter, stop, _Recorder(walk, bridge)))
        state.finish(stop.reason, bench.layout.state)


async def _restart(bench: Workbench, state: TrainingState) -> None:
    """Set the state back to the baseline: the walk comes to where it was without paying."""
    fresh = await measure_baseline(bench)
    for item in fields(TrainingState):
        setattr(state, item.name, getattr(fresh, item.name))


def _budget(bench: Workbench, walk: Walk) -> tuple[int, int]:
    """Return the rows that the search may use and those of its largest iteration; warn if that is too little."""
    given = bench.config.optimizer.gepa_metric_calls
    rows = loop_rows(bench.config, bench.schedule, walk.rows_used) if given is None else given
    most = 2 * bench.config.optimizer.gepa_minibatch_size + walk.rows_used
    proposals = max(0, rows - walk.rows_used) // most
    if proposals < FEW_PROPOSALS:
        bench.emit(
            Warned(
                "few_proposals",
                f"{rows} rows let gepa measure only {proposals} candidates: raise optimizer.gepa_metric_calls",
            )
        )
    return rows, most


def _search(bench: Workbench, adapter: SkillAdapter, stop: Stop, recorder: _Recorder) -> None:
    optimize(
        seed_candidate=adapter.seed,
        trainset=[Example(Part.TRAIN, index) for index in range(len(bench.items(Part.TRAIN)))],
        valset=[Example(Part.VAL, index) for index in range(len(bench.items(Part.VAL)))],
        adapter=cast(Any, adapter),  # a structural type whose optional parts it does not have
        reflection_minibatch_size=bench.config.optimizer.gepa_minibatch_size,
        stop_callbacks=stop,
        callbacks=[cast(Any, recorder)],
        logger=_Log(),
        track_best_outputs=False,
        seed=bench.config.train.seed,
    )


class _Recorder:
    """Listens to the search and keeps one record an iteration."""

    def __init__(self, walk: Walk, bridge: Bridge) -> None:
        self._walk = walk
        self._bridge = bridge
        self._parents: list[int] = []

    def on_iteration_start(self, event: Any) -> None:
        """An iteration begins."""
        self._walk.begin()
        self._parents = []

    def on_candidate_selected(self, event: Any) -> None:
        """A member of the pool was chosen as the parent."""
        self._parents.append(int(event["candidate_idx"]))

    def on_iteration_end(self, event: Any) -> None:
        """An iteration ended."""
        self._bridge.call(lambda: self._walk.finish(self._parents))


class _Log:
    """Where the search's own lines go."""

    def log(self, message: str) -> None:
        """Take a line; it may hold texts of skills, so it is for debugging only."""
        _LOG.debug("%s", message)
