"""Edit budgets of a run's steps."""

from __future__ import annotations

from reflact.engine.workbench import Workbench
from reflact.optimizer.schedule import edit_budget, resolve_floor
from reflact.optimizer.types import UpdateMode


def scheduled_budget(bench: Workbench, step: int) -> int:
    """Return the scheduler's edit budget of a global step."""
    config = bench.config.optimizer
    floor = resolve_floor(config.learning_rate, config.min_learning_rate)
    return edit_budget(config.lr_scheduler, config.learning_rate, floor, step, bench.schedule.total_steps)


def fixed_budget(bench: Workbench, step: int) -> int | None:
    """Return the budget that is known before the step; None where there is none or the teacher sets it."""
    mode = bench.config.optimizer.lr_control_mode
    if mode != "fixed" or bench.mode is UpdateMode.FULL_REWRITE:
        return None
    return scheduled_budget(bench, step)


def analyst_cap(bench: Workbench, step: int) -> int | None:
    """Return the most changes that an analyst may reply with; None is unlimited."""
    if bench.config.optimizer.lr_control_mode == "autonomous" and bench.mode is not UpdateMode.FULL_REWRITE:
        return bench.config.gradient.max_edits_per_minibatch
    return fixed_budget(bench, step)
