"""What tokens cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.names import Role
from reflact.core.usage import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens."""

    prompt: float
    cached: float
    completion: float

    def usd(self, usage: Usage) -> float:
        """What a usage costs in US dollars."""
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (
            fresh * self.prompt + usage.cached_tokens * self.cached + usage.completion_tokens * self.completion
        ) / _MILLION


FREE = Price(0.0, 0.0, 0.0)
_UNPAID = frozenset({"local", "template"})
"""Backends that run in this process. A rehearsal is priced by its models' names, so that budgets can be rehearsed."""


def is_unpaid(backend: str) -> bool:
    """Whether nobody is paid for the calls of a backend."""
    return backend in _UNPAID


def role_price(config: Config, role: Role, prices: Mapping[str, Price]) -> Price | None:
    """Return what a role's tokens cost; None where the price of its model is not known."""
    if is_unpaid(getattr(config.model, f"{role}_backend")):
        return FREE
    return prices.get(getattr(config.model, str(role)))


def read_prices(models: Mapping[str, Any]) -> dict[str, Price]:
    """Read `pricing.models`; without `cached`, cached tokens cost what fresh ones do.

    Raises:
        ConfigError: An entry is not `{prompt, cached, completion}` with numbers that are not negative.
    """
    return {name: _price(name, entry) for name, entry in models.items()}


def _price(name: str, entry: Any) -> Price:
    values = dict(entry) if isinstance(entry, Mapping) else {}
    unknown = set(values) - {"prompt", "cached", "completion"}
    if unknown or not {"prompt", "completion"} <= set(values):
        raise ConfigError(f"pricing.models.{name}={entry}: needed are prompt and completion, cached may be added")
    for part, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ConfigError(
                f"pricing.models.{name}.{part}={value}: a number of US dollars a million tokens is needed"
            )
    prompt = float(values["prompt"])
    return Price(prompt, float(values.get("cached", prompt)), float(values["completion"]))
