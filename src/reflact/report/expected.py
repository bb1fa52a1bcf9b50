"""What the plans of sweeps expected their runs to take."""

from __future__ import annotations

from collections.abc import Sequence

from reflact.report.status import RunLine
from reflact.report.text import count, money


def expected(lines: Sequence[RunLine]) -> list[str]:
    """Say what the plans of all these runs expected at most; nothing where one has no plan, or nobody knows."""
    tokens = [line.tokens_most for line in lines if line.tokens_most is not None]
    costs = [line.cost_most_usd for line in lines if line.cost_most_usd is not None]
    if not lines or len(tokens) < len(lines):
        return []
    return [
        f"planned {count(sum(tokens))} tokens at most" + (f", {money(sum(costs))}" if len(costs) == len(lines) else "")
    ]
