"""Calls, tokens and money of a run, as events tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Spending:
    """What calls consumed.

    Attributes:
        tokens: Tokens read and written by role, failed attempts included.
        calls: Answered calls by role.
        failed_calls: Attempts without an answer.
        unpriced_calls: Answered calls that took tokens of a price that is not known.
    """

    tokens: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    failed_calls: int = 0
    unpriced_calls: int = 0
    _priced_usd: float = 0.0

    @property
    def tokens_total(self) -> int:
        """Tokens read and written by both roles."""
        return self.tokens.total()

    @property
    def cost_usd(self) -> float | None:
        """US dollars so far; None as soon as the price of one call is not known."""
        return None if self.unpriced_calls else self._priced_usd

    def answered(self, event: Mapping[str, Any]) -> None:
        """Take a `call` event."""
        tokens = self._usage(event)
        self.calls[str(event.get("role"))] += 1
        cost = event.get("cost_usd")
        if isinstance(cost, int | float):
            self._priced_usd += cost
        elif tokens:
            self.unpriced_calls += 1

    def failed(self, event: Mapping[str, Any]) -> None:
        """Take a `call_failed` event."""
        self._usage(event)

    def _usage(self, event: Mapping[str, Any]) -> int:
        usage = event.get("usage")
        if not isinstance(usage, Mapping):
            return 0
        tokens = int(usage.get("prompt_tokens") or 0) + int(usage.get("completion_tokens") or 0)
        self.tokens[str(event.get("role"))] += tokens
        self.failed_calls += int(usage.get("failed_calls") or 0)
        return tokens
