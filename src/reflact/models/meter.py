"""What a run has used and spent, and the budget that ends it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

from reflact.config.operation import BudgetConfig
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Stopped
from reflact.core.names import Role, StopCause
from reflact.core.usage import Usage
from reflact.models.pricing import FREE, Price, is_unpaid, read_prices, role_price
from reflact.models.protocol import Failure
from reflact.models.spending import SharedSpending, Spent


@dataclass(frozen=True, slots=True)
class MeterKey:
    """What usage is booked under."""

    role: str
    model: str
    stage: str
    phase: str


@dataclass(frozen=True, slots=True)
class MeterLine:
    """Usage under one key and its cost in US dollars; None where the model's price is unknown."""

    key: MeterKey
    usage: Usage
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class SweepBudget:
    """What all runs of a sweep may spend together; 0 is unlimited."""

    spending: SharedSpending
    max_tokens: int
    max_usd: float

    def fraction_used(self, spent: Spent) -> float:
        """Share that is spent, of the tighter one of two."""
        tokens = spent.tokens / self.max_tokens if self.max_tokens > 0 else 0.0
        return max(tokens, spent.usd / self.max_usd if self.max_usd > 0 else 0.0)

    def check(self) -> None:
        """Ask whether another call may be made.

        Raises:
            Stopped: The budget is spent.
        """
        if self.max_tokens <= 0 and self.max_usd <= 0:
            return
        spent = self.spending.total()
        if 0 < self.max_tokens <= spent.tokens:
            raise _spent(f"sweep.max_tokens={self.max_tokens}", f"{spent.tokens} tokens", "sweep.existing=resume")
        if 0 < self.max_usd <= spent.usd:
            raise _spent(f"sweep.max_usd={self.max_usd:g}", f"{spent.usd:.2f} US dollars", "sweep.existing=resume")


class Meter:
    """Adds up the usage of all calls of a run, those of its earlier processes included.

    Args:
        prices: Price by model name.
        budget: What may be spent; None is unlimited.
        sweep: What the sweep that the run belongs to may spend; None if it belongs to none.
        unpaid: Roles whose calls cost nothing, whatever their model is called.
    """

    def __init__(
        self,
        prices: Mapping[str, Price],
        budget: BudgetConfig | None = None,
        sweep: SweepBudget | None = None,
        unpaid: Container[str] = (),
    ) -> None:
        self._prices = prices
        self._budget = BudgetConfig() if budget is None else budget
        self._sweep = sweep
        self._unpaid = unpaid
        self._usage: dict[MeterKey, Usage] = {}
        self._total = Usage()
        self._usd = 0.0
        self._unpriced: set[str] = set()
        self.count_429 = 0
        self.wait_s = 0.0

    @classmethod
    def of(cls, config: Config) -> Meter:
        """Make the meter of a run.

        Raises:
            ConfigError: A price is malformed, or `budget.max_usd` is set and the price of a model is unknown.
        """
        prices = read_prices(config.pricing.models)
        for key, most in (("budget.max_usd", config.budget.max_usd), ("sweep.max_usd", config.sweep.max_usd)):
            if most > 0:
                _require_prices(config, prices, f"{key}={most:g}", key.replace("usd", "tokens"))
        return cls(prices, config.budget, sweep_budget(config), unpaid_roles(config))

    def record(self, key: MeterKey, usage: Usage, *, wait_s: float = 0.0) -> float | None:
        """Book a finished or failed call; returns its cost."""
        cost = self._book(key, usage, wait_s)
        if self._sweep is not None:
            self._sweep.spending.add(usage.tokens, 0.0 if cost is None else cost)
        return cost

    def _book(self, key: MeterKey, usage: Usage, wait_s: float) -> float | None:
        self._usage[key] = self._usage.get(key, Usage()) + usage
        self._total += usage
        self.wait_s += wait_s
        price = self._price(key)
        if price is None:
            if usage.tokens:
                self._unpriced.add(key.model)
            return None
        cost = price.usd(usage)
        self._usd += cost
        return cost

    def record_429(self) -> None:
        """Count an attempt that was answered with 429."""
        self.count_429 += 1

    def restore(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Book the `call`, `call_failed` and `retry` events of earlier processes; others are passed over.

        Costs are worked out anew, with today's prices.
        """
        for event in events:
            kind = event.get("kind")
            if kind in ("call", "call_failed"):
                key = MeterKey(event["role"], event["model"], event["stage"], event["phase"])
                self._book(key, Usage.from_json(event["usage"]), float(event.get("wait_s", 0.0)))
            if kind in ("retry", "call_failed") and event.get("cause") == Failure.RATE_LIMIT:
                self.record_429()

    @property
    def total(self) -> Usage:
        """Usage of all roles."""
        return self._total

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent; None where the price of a used model is unknown.

        Worked out from the tokens, so that it does not depend on the order in which calls came back.
        """
        return None if self._unpriced else fsum(line.cost_usd for line in self.lines() if line.cost_usd is not None)

    def lines(self) -> list[MeterLine]:
        """Usage and cost by role, model, stage and phase, sorted."""
        keys = sorted(self._usage, key=lambda key: (key.role, key.model, key.stage, key.phase))
        return [MeterLine(key, self._usage[key], self._cost(key)) for key in keys]

    def to_json(self) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
        """Return usage as `summary.json` holds it: role, stage, phase, counts."""
        tree: dict[str, dict[str, dict[str, Usage]]] = {}
        for line in self.lines():
            phases = tree.setdefault(line.key.role, {}).setdefault(line.key.stage, {})
            phases[line.key.phase] = phases.get(line.key.phase, Usage()) + line.usage
        return {
            role: {
                stage: {phase: usage.to_json() for phase, usage in sorted(phases.items())}
                for stage, phases in sorted(stages.items())
            }
            for role, stages in tree.items()
        }

    def fraction_used(self) -> float:
        """Share of the budget that is spent, of the tighter one of two; 0 without a budget, above 1 when overdrawn."""
        budget = self._budget
        tokens = self._total.tokens / budget.max_tokens if budget.max_tokens > 0 else 0.0
        shared = 0.0 if self._sweep is None else self._sweep.fraction_used(self._sweep.spending.total())
        return max(tokens, self._usd / budget.max_usd if budget.max_usd > 0 else 0.0, shared)

    def check(self) -> None:
        """Ask whether another call may be made.

        Raises:
            Stopped: The budget is spent; the message names the key to raise.
        """
        budget = self._budget
        if 0 < budget.max_tokens <= self._total.tokens:
            raise _spent(f"budget.max_tokens={budget.max_tokens}", f"{self._total.tokens} tokens")
        if 0 < budget.max_usd <= self._usd:
            raise _spent(f"budget.max_usd={budget.max_usd:g}", f"{self._usd:.2f} US dollars")
        if self._sweep is not None:
            self._sweep.check()

    def _price(self, key: MeterKey) -> Price | None:
        return FREE if key.role in self._unpaid else self._prices.get(key.model)

    def _cost(self, key: MeterKey) -> float | None:
        price = self._price(key)
        return None if price is None else price.usd(self._usage[key])


def unpaid_roles(config: Config) -> frozenset[str]:
    """Return the roles whose calls cost nothing."""
    return frozenset(role.value for role in Role if is_unpaid(getattr(config.model, f"{role}_backend")))


def sweep_budget(config: Config) -> SweepBudget | None:
    """Return what the run's sweep may spend; None if it belongs to none."""
    sweep = config.sweep
    if not sweep.root:
        return None
    return SweepBudget(SharedSpending(Path(sweep.root)), sweep.max_tokens, sweep.max_usd)


def _spent(key: str, used: str, resume: str = "run.resume=true") -> Stopped:
    return Stopped(StopCause.BUDGET, f"the budget {key} is spent ({used} used): raise it and go on with {resume}")


def _require_prices(config: Config, prices: Mapping[str, Price], key: str, instead: str) -> None:
    for role in Role:
        model = getattr(config.model, str(role))
        if role_price(config, role, prices) is None:
            raise ConfigError(
                f"{key} needs the price of the {role}'s model {model}: give it in pricing.models, or set {instead} "
                "instead"
            )
