"""When the search ends."""

from __future__ import annotations

from typing import Any

from reflact.core.names import StopReason
from reflact.engine.gepa.walk import Walk
from reflact.engine.workbench import Workbench


class Stop:
    """Ends the search before an iteration that could exceed its rows, after too many in vain, or at a perfect score.

    Args:
        bench: The run's parts.
        walk: Counts rows.
        rows: Rows that the search may use.
        iteration_rows: Most rows of one iteration.
    """

    def __init__(self, bench: Workbench, walk: Walk, rows: int, iteration_rows: int) -> None:
        self.reason = StopReason.COMPLETED
        self._config = bench.config
        self._walk = walk
        self._rows = rows
        self._iteration_rows = iteration_rows

    def __call__(self, gepa_state: Any) -> bool:
        """Whether to stop now; asked between iterations."""
        state, config = self._walk.state, self._config
        if config.train.stop_at_perfect and state.best.score == 1.0:
            self.reason = StopReason.PERFECT_SCORE
            return True
        if 0 < config.optimizer.patience <= state.since_best:
            self.reason = StopReason.PATIENCE
            return True
        return self._walk.rows_used + self._iteration_rows > self._rows
