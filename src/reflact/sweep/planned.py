"""A point with everything that a plan says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from reflact.config.schema import Config
from reflact.core.hashing import digest
from reflact.core.names import Part
from reflact.sweep.estimate import Estimate
from reflact.sweep.points import Point
from reflact.sweep.sizes import DataFacts


class PointState(StrEnum):
    """What becomes of a point: it is run, it is another's alias, or it is left out."""

    RUN = "run"
    ALIAS = "alias"
    SKIP = "skip"


@dataclass(slots=True)
class Planned:
    """A point of a plan.

    Attributes:
        point: Its id and overrides.
        out_dir: Its directory.
        state: What becomes of it.
        same_as: The run that it is an alias of.
        why: Why it is not run, or what a person should know of the run.
        config: Its configuration; None if it was left out before it was composed.
        facts: Its items.
        skill: Hash of the skill that it begins with.
        form: What it really computes, see `reflact.sweep.normal`.
        estimate: What it would take at most.
        resume: The run in its directory is continued.
    """

    point: Point
    out_dir: Path
    state: PointState = PointState.RUN
    same_as: str | None = None
    why: str = ""
    config: Config | None = None
    facts: DataFacts | None = None
    skill: str = ""
    form: Mapping[str, Any] = field(default_factory=dict)
    estimate: Estimate | None = None
    resume: bool = False

    @property
    def key(self) -> str:
        """Equal for points that compute the same."""
        assert self.facts is not None
        data = self.facts.fingerprint or [self.facts.split, *(self.facts.sizes[part] for part in Part)]
        return digest([self.form, data, self.point.apart])

    def skip(self, why: str) -> None:
        """Leave the point out."""
        self.state, self.why = PointState.SKIP, why

    def alias(self, run_id: str, why: str) -> None:
        """Make the point an alias of a run."""
        self.state, self.same_as, self.why = PointState.ALIAS, run_id, why

    def to_json(self) -> dict[str, Any]:
        """Return the point as `plan.json` holds it."""
        estimate = self.estimate
        return {
            "run_id": self.point.run_id,
            "group": self.point.group,
            "benchmark": self.point.benchmark,
            "overrides": list(self.point.overrides),
            "out_dir": str(self.out_dir),
            "state": self.state.value,
            "same_as": self.same_as,
            "why": self.why,
            "steps_per_epoch": estimate.steps_per_epoch if estimate else None,
            "batch_sizes": list(estimate.batch_sizes) if estimate else [],
            "est_calls": estimate.calls if estimate else None,
            "est_tokens": estimate.tokens if estimate else None,
            "est_cost_usd": estimate.cost_usd if estimate else None,
        }


def published_splits(planned: Iterable[Planned]) -> dict[str, dict[str, DataFacts]]:
    """Return what is known of data that are not there, by benchmark and name of the split."""
    found: dict[str, dict[str, DataFacts]] = {}
    for entry in planned:
        if entry.facts is not None and entry.facts.missing:
            found.setdefault(entry.point.benchmark, {}).setdefault(entry.facts.split, entry.facts)
    return found
