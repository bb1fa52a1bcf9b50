"""From analyses to a candidate text: aggregate, select and update, by update mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reflact.core.events import StageDone
from reflact.core.names import Action, Stage
from reflact.engine.edit_budget import fixed_budget, scheduled_budget
from reflact.engine.evaluation import Evaluation
from reflact.engine.forecast import merge_depth
from reflact.engine.history import History
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench
from reflact.optimizer.aggregate import Aggregate, aggregate
from reflact.optimizer.edit_report import EditStatus
from reflact.optimizer.edits import Applied, apply_edits
from reflact.optimizer.full_rewrite import full_rewrite
from reflact.optimizer.lr_control import choose
from reflact.optimizer.reflect import AnalysisRecord
from reflact.optimizer.rewrite import rewrite
from reflact.optimizer.select import Selection, select
from reflact.optimizer.types import Change, Evidence, Source, StepContext, UpdateMode
from reflact.rundir.atomic import write_json
from reflact.rundir.journal import Journal
from reflact.rundir.layout import StepFolder


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate text, or why there is none.

    Attributes:
        text: The candidate; None if the step is skipped.
        skipped: Why there is no candidate.
        budget: Edit budget of the step; None for unlimited and for full rewrites.
        merged: Changes after aggregation.
        selected: Changes after selection.
        applied: Bodies of the changes that went into the candidate.
        statuses: Edits by status of the report.
        detail: Further counts for the record (fallbacks, failed replies).
    """

    text: str | None
    skipped: Action | None
    budget: int | None
    merged: int = 0
    selected: int = 0
    applied: tuple[Mapping[str, Any], ...] = ()
    statuses: Mapping[str, int] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Work:
    """What the parts of one proposal share."""

    bench: Workbench
    state: TrainingState
    step: int
    folder: StepFolder
    journal: Journal
    context: StepContext


async def propose(
    bench: Workbench,
    state: TrainingState,
    step: int,
    rollout: Evaluation,
    analyses: Sequence[AnalysisRecord],
    context: StepContext,
    history: History,
) -> Proposal:
    """Turn the step's analyses into a candidate."""
    folder = bench.layout.step(step)
    work = _Work(bench, state, step, folder, bench.journal(folder.path), context)
    patches = [record for record in analyses if record.patch is not None and record.patch.changes]
    if not patches:
        return Proposal(None, Action.SKIP_NO_PATCHES, fixed_budget(bench, step))
    if bench.mode is UpdateMode.FULL_REWRITE:
        return await _full_rewrite(work, patches)
    bench.forecast.teaching(_merge_calls(bench, patches) + _may_rank(bench, step, patches))
    merged = await aggregate(
        [record.patch for record in patches if record.patch is not None],
        context,
        bench.teacher,
        work.journal,
        bench.config.gradient.merge_batch_size,
    )
    write_json(folder.merged_patch, merged.to_json())
    bench.emit(
        StageDone(
            Stage.AGGREGATE.value,
            state.epoch,
            step,
            {"changes": len(merged.patch.changes), "calls": len(merged.merges), "fallback": merged.fallback},
        )
    )
    autonomous = bench.config.optimizer.lr_control_mode == "autonomous"
    bench.forecast.teaching(1 if autonomous else 0)
    budget = await _budget(work, rollout, merged, history)
    bench.forecast.teaching(1 if budget is not None and 0 < budget < len(merged.patch.changes) else 0)
    selection = await select(merged.patch.changes, budget, context, bench.teacher, work.journal)
    write_json(folder.ranked_edits, selection.to_json())
    bench.emit(StageDone(Stage.SELECT.value, state.epoch, step, {"budget": budget, "selected": len(selection.changes)}))
    return await _update(work, merged, selection, budget)


def _merge_calls(bench: Workbench, patches: Sequence[AnalysisRecord]) -> int:
    group = bench.config.gradient.merge_batch_size
    sides = [sum(record.source is source for record in patches) for source in Source]
    return max(merge_depth(side, group) for side in sides) + (1 if all(sides) else 0)


def _may_rank(bench: Workbench, step: int, patches: Sequence[AnalysisRecord]) -> int:
    """Return 1 if a ranking may follow the merges; before these, only a bound on the changes is known."""
    budget = fixed_budget(bench, step)
    changes = sum(len(record.patch.changes) for record in patches if record.patch is not None)
    return 1 if budget is not None and 0 < budget < changes else 0


async def _budget(work: _Work, rollout: Evaluation, merged: Aggregate, history: History) -> int | None:
    """Return the edit budget: the schedule's, the teacher's own choice, or none at all."""
    if work.bench.config.optimizer.lr_control_mode != "autonomous":
        return fixed_budget(work.bench, work.step)
    scheduled = scheduled_budget(work.bench, work.step)
    scores = rollout.done
    evidence = Evidence(scores.scored, scores.hard or 0.0, scores.soft or 0.0, merged.patch.changes)
    decision = await choose(evidence, work.context, work.bench.teacher, work.journal, scheduled)
    write_json(work.folder.lr_decision, decision.to_json())
    history.append_lr({"epoch": work.state.epoch, "step": work.step, **decision.to_json()})
    return decision.learning_rate


async def _update(work: _Work, merged: Aggregate, selection: Selection, budget: int | None) -> Proposal:
    if work.bench.mode is UpdateMode.SUGGESTIONS:
        return await _rewrite(work, merged, selection, budget)
    applied = apply_edits(work.context.skill, selection.changes, max_chars=work.bench.config.optimizer.max_skill_chars)
    write_json(work.folder.edit_apply_report, {"edits": [row.to_json() for row in applied.report]})
    bodies = applied_bodies(applied, selection.changes)
    return Proposal(
        text=applied.text,
        skipped=None if bodies else Action.SKIP_NO_CHANGE,
        budget=budget,
        merged=len(merged.patch.changes),
        selected=len(selection.changes),
        applied=bodies,
        statuses=edit_statuses(applied),
        detail=_detail(merged, selection),
    )


def edit_statuses(applied: Applied) -> dict[str, int]:
    """Return the number of edits of each status that occurs, in order of first appearance."""
    return dict(Counter(row.status.value for row in applied.report))


def applied_bodies(applied: Applied, changes: Sequence[Change]) -> tuple[Mapping[str, Any], ...]:
    """Return the bodies of the changes that went into the text."""
    rows = zip(changes, applied.report, strict=True)
    return tuple(dict(change.body) for change, row in rows if row.status is EditStatus.APPLIED)


async def _rewrite(work: _Work, merged: Aggregate, selection: Selection, budget: int | None) -> Proposal:
    """Let the teacher carry the selected suggestions out."""
    proposal = Proposal(
        text=None,
        skipped=Action.SKIP_NO_CHANGE,
        budget=budget,
        merged=len(merged.patch.changes),
        selected=len(selection.changes),
        detail=_detail(merged, selection),
    )
    if not selection.changes:
        return proposal
    done = await rewrite(
        work.context, selection.changes, work.bench.teacher, work.journal, work.bench.config.optimizer.max_skill_chars
    )
    write_json(work.folder.rewrite_result, done.to_json())
    if done.text is None:
        detail = {**proposal.detail, "rewrite_cause": done.cause}
        return replace(proposal, skipped=Action.SKIP_NO_REWRITE, detail=detail)
    bodies = tuple(dict(change.body) for change in selection.changes)
    return replace(proposal, text=done.text, skipped=None, applied=bodies)


async def _full_rewrite(work: _Work, patches: Sequence[AnalysisRecord]) -> Proposal:
    """Combine the minibatches' whole skills into one; no selection, no budget."""
    config = work.bench.config
    work.bench.forecast.teaching(_merge_calls(work.bench, patches))
    done = await full_rewrite(
        [record.patch for record in patches if record.patch is not None],
        work.context,
        work.bench.teacher,
        work.journal,
        config.gradient.merge_batch_size,
        max_chars=config.optimizer.max_skill_chars,
    )
    write_json(work.folder.full_rewrite_result, {"edit_budget": None, **done.to_json()})
    if done.text is None:
        return Proposal(None, Action.SKIP_NO_REWRITE, None, len(patches), detail={"rewrite_cause": done.cause})
    return Proposal(done.text, None, None, len(patches), 1)


def _detail(merged: Aggregate, selection: Selection) -> dict[str, Any]:
    return {
        "merge_fallback": merged.fallback,
        "select_fallback": selection.fallback,
        "select_dropped": selection.dropped,
    }
