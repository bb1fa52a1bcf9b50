"""The longitudinal comparison: the same train items under the skills of two epoch ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from reflact.core.names import Part, Phase, RowStatus, Stage
from reflact.engine.evaluation import Evaluation, Plan, Trial
from reflact.engine.rows import trajectory
from reflact.engine.scores import RowRef
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench
from reflact.optimizer.slow_update import keep, pair_kind
from reflact.optimizer.types import Comparison, Pair, PairKind
from reflact.rundir.layout import EvaluationFolder, MetaSkillFolder, SlowUpdateFolder

CHANGED = (PairKind.IMPROVED, PairKind.REGRESSED)


@dataclass(frozen=True, slots=True)
class _Side:
    """One skill of the comparison and where its rollout goes."""

    skill: str
    folder: EvaluationFolder


async def compare(
    bench: Workbench, state: TrainingState, folder: SlowUpdateFolder | MetaSkillFolder, stage: Stage
) -> Comparison:
    """Roll train items out under both skills and pair the outcomes; `error` rows drop their pair.

    The sample is the first `slow_update_samples` items of the epoch's seeded order. Under the policy `changed` the
    rest of the order is scanned, sample by sample, until enough pairs changed; how far it goes depends on outcomes
    only, never on concurrency.
    """
    assert state.previous_epoch is not None, "epoch 1 has nothing to compare with"
    config = bench.config.optimizer
    order, seed = bench.schedule.comparison(state.epoch)
    size = min(config.slow_update_samples, len(order))
    sides = _sides(bench, state, folder)
    pairs: list[Pair] = []
    for start in range(0, len(order), size):
        pairs += await _pairs(bench, state, sides, order[start : start + size], seed, stage)
        if config.longitudinal_pair_policy != "changed" or len(keep("changed", pairs)) >= size:
            break
    kept = tuple(keep(config.longitudinal_pair_policy, pairs)[:size])
    return Comparison(state.previous_epoch, state.current.text, kept)


def _sides(bench: Workbench, state: TrainingState, folder: SlowUpdateFolder | MetaSkillFolder) -> tuple[_Side, _Side]:
    """Return former and current; the same skill is rolled out once and stands on both sides."""
    assert state.previous_epoch is not None
    current = _Side(state.current.text, folder.rollout_curr)
    if bench.skill_key(state.previous_epoch) == bench.skill_key(state.current.text):
        return current, current
    return _Side(state.previous_epoch, folder.rollout_prev), current


async def _pairs(
    bench: Workbench,
    state: TrainingState,
    sides: tuple[_Side, _Side],
    indices: Sequence[int],
    seed: int,
    stage: Stage,
) -> list[Pair]:
    train = bench.items(Part.TRAIN)
    trials = tuple(Trial(train[i], seed) for i in indices)

    async def roll(side: _Side) -> Evaluation:
        return await bench.evaluator.evaluate(
            Plan(trials, side.skill, Part.TRAIN, stage, Phase.SLOW, side.folder, state.epoch, state.step)
        )

    former, current = sides
    if former is current:
        before = after = await roll(current)
    else:
        before, after = await asyncio.gather(roll(former), roll(current))
    return [
        _pair(bench, sides, old, new)
        for old, new in zip(before.rows, after.rows, strict=True)
        if RowStatus.ERROR not in (old.status, new.status)
    ]


def _pair(bench: Workbench, sides: tuple[_Side, _Side], old: RowRef, new: RowRef) -> Pair:
    assert old.hard is not None and new.hard is not None
    gold = bench.gold_for_teacher
    return Pair(
        id=old.id,
        kind=pair_kind(old.hard, new.hard),
        previous=trajectory(sides[0].folder, old, gold=gold),
        current=trajectory(sides[1].folder, new, gold=gold),
    )
