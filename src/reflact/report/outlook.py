"""Rows that a run has still to do, from what its first event says about the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reflact.report.progress import RunProgress


def rows_left(run: RunProgress) -> dict[str, int] | None:
    """Return the rows still to come by kind of phase, at most; None where the plan is not known.

    The plan's counts are `train`, `selection` and `test` (rows of one pass) and `slow` (rows of an epoch-end
    comparison, which is followed by one more pass over the selection split); missing ones count nothing.
    """
    counts = {str(name): int(number) for name, number in _mapping(run.facts.get("counts")).items()}
    left = dict.fromkeys(("train", "selection", "slow", "test"), 0)
    for phase in run.open.values():
        left[phase.phase] = left.get(phase.phase, 0) + phase.left
    if not run.steps:
        return left if run.open else None  # an evaluation of one skill
    if "selection" not in counts:
        return None
    begun = {*run.open, *run.ended}
    if "baseline/selection" not in begun:
        left["selection"] += counts["selection"]
    if not any(name.startswith("test/") for name in begun):
        _training(run, counts, left)
    for name in ("baseline/test", "test/best"):
        if name not in begun:
            left["test"] += counts.get("test", 0)
    return left


def _training(run: RunProgress, counts: Mapping[str, int], left: dict[str, int]) -> None:
    decided = run.verdicts.steps_decided
    ahead = [step for step in range(1, run.steps + 1) if step not in decided]
    rollout = run.epochs * counts.get("train", 0) / run.steps
    begun_steps = {(phase.phase, phase.step) for phase in [*run.open.values(), *run.ended.values()]}
    left["train"] += round(rollout * sum(1 for step in ahead if ("train", step) not in begun_steps))
    left["selection"] += counts["selection"] * sum(1 for step in ahead if ("selection", step) not in begun_steps)
    compared = {phase.epoch for phase in [*run.open.values(), *run.ended.values()] if phase.phase == "slow"}
    for epoch in range(max(2, run.epoch), run.epochs + 1):
        if epoch not in compared and counts.get("slow"):
            left["slow"] += counts["slow"]
            left["selection"] += counts["selection"]


def _mapping(value: object) -> Mapping[str, int]:
    return value if isinstance(value, Mapping) else {}
