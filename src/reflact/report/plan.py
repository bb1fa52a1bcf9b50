"""Whether what a run would do is worth its money: warnings before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator

from reflact.config.schema import Config
from reflact.engine.method import GEPA, ONE_SHOT
from reflact.engine.plan import Plan
from reflact.report.text import plural

FEW_GATES = 3
MORE_STEPS = "raise train.num_epochs or lower train.batch_size"
SMALL_SELECTION = 10


def gates_in_budget(plan: Plan, tokens_per_row: float, max_tokens: int) -> int:
    """Return how many gate evaluations a token budget allows; teacher calls are left out, so it may be fewer."""
    if plan.total_steps == 0 or tokens_per_row <= 0:
        return plan.gate_evaluations
    step = (plan.rollout_rows + plan.gate_rows) / plan.total_steps
    rows = max_tokens / tokens_per_row - plan.baseline_rows
    return max(0, min(plan.gate_evaluations, int(rows // step) if step else plan.gate_evaluations))


def plan_warnings(config: Config, plan: Plan, selection: int, tokens_per_row: float | None) -> Iterator[str]:
    """Yield what should be mended before money is spent.

    Args:
        config: The configuration.
        plan: Its counts.
        selection: Items of the selection split that are used.
        tokens_per_row: Tokens that a row takes, None where nobody knows.
    """
    if selection < SMALL_SELECTION:
        yield f"the selection split has {selection} items, so that luck decides a step: use at least {SMALL_SELECTION}"
    method = config.optimizer.name
    if config.evaluation.use_gate and plan.gate_evaluations < FEW_GATES and method != ONE_SHOT:
        more = "raise optimizer.gepa_metric_calls" if method == GEPA else MORE_STEPS
        yield f"only {plural(plan.gate_evaluations, 'candidate')} can be measured: {more}"
    budget = config.budget.max_tokens
    if budget and tokens_per_row:
        fitting = gates_in_budget(plan, tokens_per_row, budget)
        if fitting < min(FEW_GATES, plan.gate_evaluations):
            yield (
                f"budget.max_tokens={budget} lets about {fitting} of {plan.gate_evaluations} candidates be measured "
                f"(at {tokens_per_row:.0f} tokens a row): raise it, or the run ends before it can learn"
            )
