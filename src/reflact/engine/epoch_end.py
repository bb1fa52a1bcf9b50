"""After the last step of an epoch: slow update, meta skill, meta reflect."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from reflact.core.names import Action, Stage
from reflact.engine.comparison import compare
from reflact.engine.history import History
from reflact.engine.judge import Candidate, Judgement, judge
from reflact.engine.proposal import Proposal, applied_bodies, edit_statuses
from reflact.engine.record import candidate_part, edits_part, standing
from reflact.engine.state import TrainingState
from reflact.engine.step import decision_event
from reflact.engine.workbench import Workbench
from reflact.optimizer.edits import apply_edits
from reflact.optimizer.meta_reflect import review
from reflact.optimizer.meta_skill import remember
from reflact.optimizer.protected import ensure_block, guidance, with_guidance
from reflact.optimizer.slow_update import guide
from reflact.optimizer.types import Comparison, EpochReview
from reflact.rundir.atomic import write_json, write_text

SLOW, MEMORY, REVIEW = "slow_update", "meta_skill", "meta_reflect"


@dataclass(slots=True)
class _EpochEnd:
    """What the updates of one epoch end share; the comparison is made once, by whoever needs it first."""

    bench: Workbench
    state: TrainingState
    history: History
    comparison: Comparison | None = None

    def save(self, name: str) -> None:
        self.state.epoch_end_done.append(name)
        self.state.save(self.bench.layout.state)


async def end_epoch(bench: Workbench, state: TrainingState, history: History) -> None:
    """Do the updates that are not done yet, saving the state after each."""
    end = _EpochEnd(bench, state, history)
    config = bench.config.optimizer
    bench.forecast.student_wanted()
    if config.use_slow_update and SLOW not in state.epoch_end_done:
        await _slow_update(end)
    if _memory_is_due(end) and MEMORY not in state.epoch_end_done:
        await _meta_skill(end)
    if config.use_meta_reflect and REVIEW not in state.epoch_end_done:
        await _meta_reflect(end)


def _memory_is_due(end: _EpochEnd) -> bool:
    """From epoch 2 on, but not after the last: nobody would read it."""
    epoch = end.state.epoch
    return end.bench.config.optimizer.use_meta_skill and 2 <= epoch < end.bench.schedule.epochs


async def _compared(end: _EpochEnd) -> Comparison:
    if end.comparison is None:
        layout, epoch = end.bench.layout, end.state.epoch
        slow = end.bench.config.optimizer.use_slow_update
        folder = layout.slow_update(epoch) if slow else layout.meta_skill(epoch)
        # A resumed epoch end compares the skill of before the slow update, as the first process did.
        before = _before_slow_update(end)
        end.comparison = await compare(end.bench, before, folder, Stage.SLOW_UPDATE if slow else Stage.META_SKILL)
        pairs = [{"id": pair.id, "kind": pair.kind.value} for pair in end.comparison.pairs]
        write_json(folder.comparison_pairs, {"epoch": epoch, "pairs": pairs})
    return end.comparison


def _before_slow_update(end: _EpochEnd) -> TrainingState:
    if SLOW not in end.state.epoch_end_done:
        return end.state
    text = end.bench.layout.skill(end.state.step).read_text(encoding="utf-8")
    current = end.state.current
    return TrainingState(
        current=type(current)(text, current.origin, current.step, current.score, current.folder),
        best=end.state.best,
        epoch=end.state.epoch,
        step=end.state.step,
        previous_epoch=end.state.previous_epoch,
    )


async def _slow_update(end: _EpochEnd) -> None:
    bench, state = end.bench, end.state
    if state.epoch == 1:
        current = state.current
        # An empty block is no new skill: the measured score stays, no evaluation is due.
        state.current = type(current)(
            ensure_block(current.text), current.origin, current.step, current.score, current.folder
        )
        write_text(bench.layout.epoch_skill(1), state.current.text)
        end.save(SLOW)
        return
    comparison = await _compared(end)
    folder = bench.layout.slow_update(state.epoch)
    former = guidance(state.current.text) or ""
    bench.forecast.teaching(1)
    written = await guide(comparison, former, bench.teacher, bench.journal(folder.path))
    text = None if written.content is None else with_guidance(state.current.text, written.content)
    limit = bench.config.optimizer.max_skill_chars
    cause = written.cause
    if text is not None and 0 < limit < len(text):
        text, cause = None, "too_long"
    judgement = await _judge_update(end, text, SLOW, forced=bench.config.optimizer.slow_update_gate == "forced")
    record = _record(
        end, SLOW, comparison.current_skill, text, judgement, Proposal(text, None, None, detail={"cause": cause})
    )
    record["pairs"] = _pair_counts(comparison)
    write_json(folder.slow_result, {**record, "content": written.content, "reasoning": written.reasoning})
    _commit(end, SLOW, record)


async def _judge_update(end: _EpochEnd, text: str | None, what: str, *, forced: bool = False) -> Judgement:
    bench, state = end.bench, end.state
    if text is None:
        return Judgement(Action.SKIP_NO_REWRITE, None, None, {})
    if bench.skill_key(text) == bench.skill_key(state.current.text):
        return Judgement(Action.SKIP_NO_CHANGE, None, None, {})
    layout = bench.layout
    folder = layout.slow_update(state.epoch) if what == SLOW else layout.meta_reflect(state.epoch)
    stage = Stage.SLOW_UPDATE if what == SLOW else Stage.META_REFLECT
    origin = f"epoch_{state.epoch:02d}_{'slow' if what == SLOW else 'meta'}"
    bench.forecast.student_wanted()
    return await judge(bench, state, Candidate(text, origin, folder.selection, stage, forced))


async def _meta_skill(end: _EpochEnd) -> None:
    bench, state = end.bench, end.state
    comparison = await _compared(end)
    folder = bench.layout.meta_skill(state.epoch)
    written = await remember(comparison, state.meta_skill, bench.teacher, bench.journal(folder.path))
    if written.content is not None:
        state.meta_skill = written.content
    write_json(folder.meta_skill_result, {"epoch": state.epoch, **asdict(written)})
    end.save(MEMORY)


async def _meta_reflect(end: _EpochEnd) -> None:
    bench, state = end.bench, end.state
    folder = bench.layout.meta_reflect(state.epoch)
    cap = bench.config.optimizer.meta_learning_rate
    records = tuple(end.history.records(state.epoch))
    subject = EpochReview(state.epoch, records, state.meta_summary, state.current.text)
    done = await review(subject, cap, bench.teacher, bench.journal(folder.path))
    changes = done.changes[:cap]
    applied = apply_edits(state.current.text, changes, max_chars=bench.config.optimizer.max_skill_chars)
    write_json(folder.edit_apply_report, {"edits": [row.to_json() for row in applied.report]})
    bodies = applied_bodies(applied, changes)
    text = applied.text if bodies else None
    if text is None:
        judgement = Judgement(Action.SKIP_NO_PATCHES, None, None, {})
    else:
        write_text(folder.candidate_skill, text)
        judgement = await _judge_update(end, text, REVIEW)
    proposal = Proposal(
        text, None, cap, len(done.changes), len(changes), bodies, edit_statuses(applied), detail={"cause": done.cause}
    )
    record = _record(end, REVIEW, subject.skill, text, judgement, proposal)
    if done.summary is not None:
        state.meta_summary = done.summary
    write_json(folder.meta_reflect_result, {**record, "meta_summary": state.meta_summary})
    _commit(end, REVIEW, record)


def _pair_counts(comparison: Comparison) -> dict[str, int]:
    counts: dict[str, int] = {}
    for pair in comparison.pairs:
        counts[pair.kind.value] = counts.get(pair.kind.value, 0) + 1
    return counts


def _record(
    end: _EpochEnd, kind: str, before: str, text: str | None, judgement: Judgement, proposal: Proposal
) -> dict[str, Any]:
    return {
        "kind": kind,
        "epoch": end.state.epoch,
        "step": end.state.step,
        "action": judgement.action.value,
        "edits": edits_part(proposal),
        "candidate": candidate_part(end.bench, before, text, judgement),
        "gate": dict(judgement.gate),
        **standing(end.state),
    }


def _commit(end: _EpochEnd, kind: str, record: dict[str, Any]) -> None:
    bench, state = end.bench, end.state
    bench.check()
    write_text(bench.layout.epoch_skill(state.epoch), state.current.text)
    end.history.append(record)
    end.save(kind)
    bench.emit(decision_event(kind, state.epoch, state.step, record, state))
