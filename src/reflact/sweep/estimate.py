"""What a run would take at most: calls from the formula, tokens from earlier runs or, without one, a rough figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.config.schema import Config
from reflact.core.names import Part, Role
from reflact.core.usage import Usage
from reflact.engine.plan import plan_counts
from reflact.engine.planned_rows import bounded
from reflact.models.pricing import read_prices, role_price
from reflact.sweep.sizes import published


@dataclass(frozen=True, slots=True)
class Estimate:
    """Upper bounds of a run.

    Attributes:
        steps_per_epoch: Steps an epoch; 0 for an evaluation.
        batch_sizes: Items of each step's rollout in one epoch.
        calls: Items rolled out and calls of the teacher.
        tokens: Tokens of both roles; None where nothing is known of the benchmark.
        cost_usd: US dollars; None where a price or the tokens are not known.
    """

    steps_per_epoch: int
    batch_sizes: tuple[int, ...]
    calls: int
    tokens: int | None
    cost_usd: float | None


@dataclass(slots=True)
class _Seen:
    """Usage of one role in earlier runs and what it was for."""

    usage: Usage = field(default_factory=Usage)
    times: int = 0


class Experience:
    """Tokens of an item and of a teacher's call, by benchmark, as earlier runs have used them."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._rough = published()

    def learn(self, summaries: Iterable[Mapping[str, Any]]) -> None:
        """Take complete runs into account; simulated ones say nothing of real tokens."""
        for summary in summaries:
            if summary.get("simulated"):
                continue
            rows = sum(sum(counts.values()) for counts in summary["rows"].values())
            self._add(summary, Role.STUDENT, rows)
            self._add(summary, Role.TEACHER, None)

    def _add(self, summary: Mapping[str, Any], role: Role, times: int | None) -> None:
        seen = self._seen.setdefault((str(summary["benchmark"]), role.value), _Seen())
        for phases in summary["usage"].get(role.value, {}).values():
            for counts in phases.values():
                usage = Usage.from_json(counts)
                seen.usage += usage
                seen.times += usage.calls if times is None else 0
        seen.times += times or 0

    def tokens(self, benchmark: str, role: Role) -> tuple[float, float] | None:
        """Return (prompt, completion) tokens of one item or call; None where nobody knows."""
        seen = self._seen.get((benchmark, role.value))
        if seen is not None and seen.times > 0:
            return seen.usage.prompt_tokens / seen.times, seen.usage.completion_tokens / seen.times
        rough = (
            self._rough["teacher_tokens"]["call"] if role is Role.TEACHER else self._rough["item_tokens"].get(benchmark)
        )
        return None if rough is None else (float(rough[0]), float(rough[1]))

    def estimate(self, config: Config, sizes: Mapping[Part, int], command: str) -> Estimate:
        """Return the upper bounds of a run."""
        batches: tuple[int, ...] = ()
        if command == "evaluate":
            steps, rows, teacher = 0, _evaluated(config, sizes), 0
        else:
            plan = plan_counts(config, sizes)
            batches = plan.batch_sizes
            steps, rows, teacher = plan.steps_per_epoch, plan.rows, plan.teacher_calls
        uses = {Role.STUDENT: rows, Role.TEACHER: teacher}
        spent = {role: self._spent(config, role, times) for role, times in uses.items() if times}
        known = [usage for usage in spent.values() if usage is not None]
        whole = len(known) == len(spent)
        tokens = sum(usage.tokens for usage in known) if whole else None
        return Estimate(steps, batches, rows + teacher, tokens, _cost(config, spent) if whole else None)

    def _spent(self, config: Config, role: Role, times: int) -> Usage | None:
        each = self.tokens(config.benchmark.name, role)
        if each is None:
            return None
        return Usage(prompt_tokens=round(each[0] * times), completion_tokens=round(each[1] * times))


def _evaluated(config: Config, sizes: Mapping[Part, int]) -> int:
    bounds = {Part.VAL: config.evaluation.sel_env_num, Part.TEST: config.evaluation.test_env_num}
    part = Part(config.split)
    return bounded(sizes[part], bounds.get(part, 0))


def _cost(config: Config, spent: Mapping[Role, Usage | None]) -> float | None:
    prices = read_prices(config.pricing.models)
    total = 0.0
    for role, usage in spent.items():
        price = role_price(config, role, prices)
        if price is None or usage is None:
            return None
        total += price.usd(usage)
    return round(total, 2)
