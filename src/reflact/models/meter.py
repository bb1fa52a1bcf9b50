"""What a run has used and spent, and the budget that ends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reflact.config.operation import BudgetConfig
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Stopped
from reflact.core.names import Role, StopCause
from reflact.core.usage import Usage
from reflact.models.pricing import Price, read_prices
from reflact.models.protocol import Failure


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


class Meter:
    """Adds up the usage of all calls of a run, those of its earlier processes included.

    Args:
        prices: Price by model name.
        budget: What may be spent; None is unlimited.
    """

    def __init__(self, prices: Mapping[str, Price], budget: BudgetConfig | None = None) -> None:
        self._prices = prices
        self._budget = BudgetConfig() if budget is None else budget
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
        if config.budget.max_usd > 0:
            _require_prices(config, prices)
        return cls(prices, config.budget)

    def record(self, key: MeterKey, usage: Usage, *, wait_s: float = 0.0) -> float | None:
        """Book a finished or failed call; returns its cost."""
        self._usage[key] = self._usage.get(key, Usage()) + usage
        self._total += usage
        self.wait_s += wait_s
        price = self._prices.get(key.model)
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
                self.record(key, Usage.from_json(event["usage"]), wait_s=float(event.get("wait_s", 0.0)))
            if kind in ("retry", "call_failed") and event.get("cause") == Failure.RATE_LIMIT:
                self.record_429()

    @property
    def total(self) -> Usage:
        """Usage of all roles."""
        return self._total

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent; None where the price of a used model is unknown."""
        return None if self._unpriced else self._usd

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
        return max(tokens, self._usd / budget.max_usd if budget.max_usd > 0 else 0.0)

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

    def _cost(self, key: MeterKey) -> float | None:
        price = self._prices.get(key.model)
        return None if price is None else price.usd(self._usage[key])


def _spent(key: str, used: str) -> Stopped:
    return Stopped(
        StopCause.BUDGET,
        f"the budget {key} is spent ({used} used): raise it and go on with run.resume=true",
    )


def _require_prices(config: Config, prices: Mapping[str, Price]) -> None:
    for role in Role:
        backend = getattr(config.model, f"{role}_backend")
        model = getattr(config.model, str(role))
        if backend not in ("local", "template") and model not in prices:
            raise ConfigError(
                f"budget.max_usd={config.budget.max_usd:g} needs the price of the {role}'s model {model}: give it in "
                f"pricing.models, or set budget.max_tokens instead"
            )
