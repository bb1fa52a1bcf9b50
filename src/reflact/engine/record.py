"""Records of history.jsonl: what was seen, proposed, applied and decided, without times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reflact.core.hashing import text_digest
from reflact.core.names import Part
from reflact.engine.deep import DeepReflection
from reflact.engine.evaluation import Evaluation
from reflact.engine.judge import Judgement
from reflact.engine.proposal import Proposal
from reflact.engine.scores import status_counts
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench
from reflact.optimizer.flags import flag_skill
from reflact.optimizer.reflect import AnalysisRecord

if TYPE_CHECKING:
    from reflact.engine.step import StepWork

PREVIEW = 160


def step_record(bench: Workbench, state: TrainingState, work: StepWork) -> dict[str, Any]:
    """Return the record of a step; `state` is the one after it."""
    return {
        "kind": "step",
        "epoch": work.epoch,
        "step": work.step,
        "action": work.judgement.action.value,
        "batch_seeds": [batch.seed for batch in work.batches],
        "rollout": rollout_part(work.rollout),
        "reflect": reflect_part(work.analyses),
        **deep_part(work.deep),
        "edits": edits_part(work.proposal),
        "candidate": candidate_part(bench, work.before, work.proposal.text, work.judgement),
        "gate": dict(work.judgement.gate),
        **standing(state),
    }


def standing(state: TrainingState) -> dict[str, Any]:
    """Return where the run stands."""
    return {
        "current": {"origin": state.current.origin, "score": state.current.score, "sha256": state.current.sha256},
        "best": {"origin": state.best.origin, "score": state.best.score, "sha256": state.best.sha256},
    }


def rollout_part(rollout: Evaluation) -> dict[str, Any]:
    """Return the scores of a rollout."""
    scores = rollout.done
    return {
        "n": scores.n,
        "scored": scores.scored,
        "hard": scores.hard,
        "soft": scores.soft,
        "statuses": status_counts(rollout.rows),
    }


def reflect_part(analyses: Sequence[AnalysisRecord]) -> dict[str, Any]:
    """Return what the analysts gave, dropped changes and failed replies included."""
    kinds: dict[str, int] = {}
    for record in analyses:
        for kind in record.failure_types:
            kinds[kind.failure_type] = kinds.get(kind.failure_type, 0) + kind.count
    return {
        "minibatches": len(analyses),
        "changes": sum(len(record.patch.changes) for record in analyses if record.patch is not None),
        "dropped": sum(record.dropped for record in analyses),
        "failed": {record.name: record.cause for record in analyses if record.cause is not None},
        "failure_types": kinds,
    }


def deep_part(deep: DeepReflection | None) -> dict[str, Any]:
    """Return what was done again; nothing where deep reflect is off."""
    if deep is None:
        return {}
    return {"deep_reflect": {"items": list(deep.items), "cause": deep.diagnosis.cause}}


def edits_part(proposal: Proposal) -> dict[str, Any]:
    """Return budget and counts of the update."""
    return {
        "budget": proposal.budget,
        "merged": proposal.merged,
        "selected": proposal.selected,
        "applied": len(proposal.applied),
        "statuses": dict(proposal.statuses),
        "preview": preview(proposal.applied),
        **proposal.detail,
    }


def candidate_part(bench: Workbench, before: str, text: str | None, judgement: Judgement) -> dict[str, Any] | None:
    """Return what is known of a candidate that was made from `before`; None if there was none."""
    if text is None:
        return None
    golds = [gold for item in bench.items(Part.TRAIN) for gold in item.gold]
    return {
        "sha256": text_digest(text),
        "chars": len(text),
        "score": judgement.score,
        "selection": judgement.scores.to_json() if judgement.scores else None,
        "flags": flag_skill(text, golds, before=before),
    }


def preview(bodies: Sequence[Mapping[str, Any]]) -> str:
    """Return the first applied change in one short line."""
    if not bodies:
        return ""
    body = bodies[0]
    text = str(body.get("content") or body.get("title") or body.get("target") or "")
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW else line[: PREVIEW - 1] + "…"
