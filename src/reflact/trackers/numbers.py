"""The numbers that trackers get, folded from events as every display folds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from reflact.core.names import Action
from reflact.report.progress import RunProgress
from reflact.report.verdicts import TAKEN

_NUMBER = re.compile(r"(?:step|epoch)_\d+/")


class Numbers:
    """Turns events into `(step, {name: value})`.

    Args:
        earlier: The run's events before this process, so that counts go on instead of starting at zero.
    """

    def __init__(self, earlier: Iterable[Mapping[str, Any]] = ()) -> None:
        self._run = RunProgress()
        self._run.feed_all(earlier)

    def feed(self, event: Mapping[str, Any]) -> tuple[int, dict[str, float]] | None:
        """Take an event in its JSON form; return numbers where it tells some that are worth a point."""
        self._run.feed(event)
        kind = event.get("kind")
        found = _phase(event) if kind == "phase_ended" else _decision(event) if kind == "decision" else None
        if found is None:
            return None
        values = {**dict(found), **self._totals()}
        return self._run.step, {name: value for name, value in values.items() if isfinite(value)}

    def _totals(self) -> dict[str, float]:
        spent, run = self._run.spending, self._run
        values = {
            "usage/calls": float(sum(spent.calls.values())),
            "usage/tokens": float(spent.tokens_total),
            "retries/429": float(run.retries.rate_limits),
            "retries/all": float(sum(run.retries.counts.values())),
            "rows/error": float(run.statuses["error"]),
        }
        if spent.cost_usd is not None:
            values["usage/cost_usd"] = float(spent.cost_usd)
        return values


def _phase(event: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    # `steps/step_0003/rollout` at step 3 is one point of the series `steps/rollout`.
    name = _NUMBER.sub("", str(event.get("name")))
    for score in ("hard", "soft"):
        value = event.get(score)
        if isinstance(value, int | float):
            yield f"{name}/{score}", float(value)
    yield f"{name}/scored", float(event.get("scored") or 0)


def _decision(event: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    names = {
        "candidate_score": "selection/candidate",
        "current_score": "selection/current",
        "best_score": "selection/best",
        "edits_applied": "edits/applied",
        "edit_budget": "edits/budget",
        "skill_chars": "skill/chars",
    }
    for field, name in names.items():
        value = event.get(field)
        if isinstance(value, int | float):
            yield name, float(value)
    action = event.get("action")
    if action in set(Action):
        yield "accepted", 1.0 if action in TAKEN else 0.0
