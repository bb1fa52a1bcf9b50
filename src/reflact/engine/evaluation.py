"""Evaluations and rollouts: items in, rows on disk and scores out.

Rows are appended as they finish and count only under their evaluation key; everything that is decided from them
is ordered by the item's place, never by time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reflact.config.study import EvaluationConfig
from reflact.core.errors import Stopped
from reflact.core.events import Emit, PhaseEnded, PhaseStarted, RowFinished, Warned
from reflact.core.names import Part, Phase, RowStatus, Stage, StopCause
from reflact.core.types import Item
from reflact.engine.gate import Metric, PrefixBound
from reflact.engine.guard import RowGuard, error_stop
from reflact.engine.keys import KeyMaker
from reflact.engine.rows import RowStore, without_secrets
from reflact.engine.scores import RowRef, Scores, scores_of, status_counts
from reflact.harness.protocol import Harness, Job
from reflact.models.slots import Slots
from reflact.rundir.atomic import write_json
from reflact.rundir.jsonl import Syncer
from reflact.rundir.layout import EvaluationFolder
from reflact.rundir.redact import Redactor


@dataclass(frozen=True, slots=True)
class Trial:
    """One item to be done once."""

    item: Item
    seed: int
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """Early rejection: stop as soon as the prefix bound says that the candidate is hopeless."""

    prefix: PrefixBound
    metric: Metric

    def feed(self, index: int, row: RowRef) -> bool:
        """Add a final row; return whether the candidate is hopeless."""
        if row.hard is None or row.soft is None:
            return False
        return self.prefix.feed(index, self.metric(row.hard, row.soft))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be evaluated, for what, and where it goes.

    Attributes:
        trials: In the order that counts.
        skill: The skill's text.
        part: Part of the split that the items belong to.
        stage: Stage that pays.
        phase: What it is for.
        folder: Evaluation folder.
        epoch: For displays.
        step: For displays.
        priority: Priority at the slots.
        on_final: Called with (index, row) when a row will not change any more; in any order.
        bound: Early rejection.
    """

    trials: Sequence[Trial]
    skill: str
    part: Part
    stage: Stage
    phase: Phase
    folder: EvaluationFolder
    epoch: int | None = None
    step: int | None = None
    priority: int = 0
    on_final: Callable[[int, RowRef], None] | None = None
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation; `rejected_at` is set if it was cut short by early rejection (no scores then)."""

    folder: EvaluationFolder
    rows: tuple[RowRef, ...]
    scores: Scores | None
    rejected_at: int | None = None

    @property
    def done(self) -> Scores:
        """The scores of a complete evaluation."""
        assert self.scores is not None, "a cut evaluation has no scores"
        return self.scores


@dataclass(slots=True)
class Evaluator:
    """Runs plans with one harness."""

    harness: Harness
    slots: Slots
    keys: KeyMaker
    config: EvaluationConfig
    syncer: Syncer
    emit: Emit
    check: Callable[[], None]
    benchmark_sees_gold: bool = False
    answers: Redactor = field(default_factory=lambda: Redactor(()))

    async def evaluate(self, plan: Plan) -> Evaluation:
        """Carry a plan out, reusing finished rows.

        Raises:
            Stopped: More `error` rows than allowed are left, or every row fails alike.
            Unavailable: A service or credential is missing.
        """
        store = RowStore(plan.folder, self.syncer, self.check)
        try:
            return await _Progress(self, plan, store).run()
        finally:
            store.close()


@dataclass(slots=True)
class _Progress:
    """One evaluation under way."""

    owner: Evaluator
    plan: Plan
    store: RowStore
    rows: list[RowRef | None] = field(default_factory=list)
    hopeless: bool = False
    guard: RowGuard = field(default_factory=RowGuard)

    async def run(self) -> Evaluation:
        plan = self.plan
        self._recover()
        self.owner.emit(
            PhaseStarted(
                name=plan.folder.name,
                phase=plan.phase.value,
                n=len(plan.trials),
                done=sum(self._final(row) for row in self.rows),
                epoch=plan.epoch,
                step=plan.step,
                background=plan.priority > 0,
            )
        )
        for index, row in enumerate(self.rows):
            if self._final(row):
                self._settle(index)
        await self._pass([i for i, row in enumerate(self.rows) if not self._final(row)])
        for _ in range(self.owner.config.error_retry_rounds):
            failed = [i for i, row in enumerate(self.rows) if row is not None and row.status is RowStatus.ERROR]
            if self.hopeless or not failed:
                break
            await self._pass(failed)
        return await self._conclude()

    @staticmethod
    def _final(row: RowRef | None) -> bool:
        return row is not None and row.status is not RowStatus.ERROR

    def _recover(self) -> None:
        keys = {trial.seed: self._key(trial) for trial in self.plan.trials}
        found = self.store.recover(set(keys.values()))
        if self.store.foreign:
            self.owner.emit(
                Warned(
                    "foreign_rows",
                    f"{self.store.foreign} rows in {self.plan.folder.name} were made with another skill, split, "
                    "model or code version; they are ignored",
                )
            )
        self.rows = [found.get((keys[t.seed], t.item.id, t.repeat)) for t in self.plan.trials]

    def _key(self, trial: Trial) -> str:
        return self.owner.keys.key(self.plan.skill, self.plan.part, trial.seed)

    async def _pass(self, indices: list[int]) -> None:
        """Do the given trials; as many workers as slots, each taking the next index.

        A spent budget lets the items in flight end, since what they cost is spent too; anything else that stops
        the run ends them at once.
        """
        queue = iter(indices)
        spent: list[Stopped] = []

        async def work() -> None:
            for index in queue:
                if self.hopeless or spent:
                    return
                async with self.owner.slots.hold(self.plan.priority):
                    if self.hopeless or spent:
                        return
                    try:
                        await self._do(index)
                    except Stopped as stop:
                        if stop.cause is not StopCause.BUDGET:
                            raise
                        spent.append(stop)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.owner.slots.size, len(indices))):
                group.create_task(work())
        if spent:
            raise spent[0]

    async def _do(self, index: int) -> None:
        trial, plan, before = self.plan.trials[index], self.plan, self.rows[index]
        job = Job(
            skill=plan.skill,
            seed=trial.seed,
            repeat=trial.repeat,
            stage=plan.stage,
            phase=plan.phase,
            again=before is not None and before.cause == "no_answer",
            retry=before is not None,
        )
        done = without_secrets(await self.owner.harness.perform(trial.item, job), self.owner.answers)
        attempt = 1 if before is None else before.attempt + 1
        row = self.store.append(self._key(trial), trial.item, trial.seed, trial.repeat, attempt, done)
        self.rows[index] = row
        self.owner.emit(
            RowFinished(
                name=plan.folder.name,
                id=row.id,
                status=row.status.value,
                cause=row.cause,
                hard=row.hard,
                soft=row.soft,
                attempt=row.attempt,
                latency_s=round(done.latency_s, 3),
                wait_s=round(done.wait_s, 3),
            )
        )
        if row.status is RowStatus.ERROR:
            self.guard.failed(row, plan.folder.name)
        else:
            self.guard.succeeded()
            self._settle(index)

    def _settle(self, index: int) -> None:
        row = self.rows[index]
        assert row is not None
        if self.plan.bound is not None and self.plan.bound.feed(index, row):
            self.hopeless = True
        if self.plan.on_final is not None:
            self.plan.on_final(index, row)

    async def _conclude(self) -> Evaluation:
        plan = self.plan
        # Syncing waits for a disk that others share; in a thread, so that what fills idle slots goes on meanwhile.
        await asyncio.to_thread(self.owner.syncer.flush)
        if self.hopeless and plan.bound is not None:
            rows = tuple(row for row in self.rows if row is not None)
            self._announce(rows, None)
            return Evaluation(plan.folder, rows, None, plan.bound.prefix.decided_at)
        rows = tuple(row for row in self.rows if row is not None)
        errors = [row for row in rows if row.status is RowStatus.ERROR]
        if len(errors) > self.owner.config.max_error_rate * len(rows):
            raise error_stop(plan.folder.name, errors, len(rows))
        for index, row in enumerate(rows):
            if row.status is RowStatus.ERROR:
                self._settle(index)
        scores = await asyncio.to_thread(scores_of, rows)
        self._announce(rows, scores)
        self.owner.check()
        summary = {"skill_key": self.owner.keys.skill_key(plan.skill), **describe(rows, scores)}
        await asyncio.to_thread(write_json, plan.folder.summary, summary)
        return Evaluation(plan.folder, rows, scores)

    def _announce(self, rows: Sequence[RowRef], scores: Scores | None) -> None:
        self.owner.emit(
            PhaseEnded(
                name=self.plan.folder.name,
                n=len(self.plan.trials),
                scored=sum(self._final(row) for row in rows),
                hard=scores.hard if scores else None,
                soft=scores.soft if scores else None,
                statuses=status_counts(rows),
            )
        )


def describe(rows: Sequence[RowRef], scores: Scores) -> dict[str, object]:
    """Return the content of an evaluation folder's `summary.json`."""
    return {
        **scores.to_json(),
        "rows": len(rows),
        "statuses": scores.statuses,
        "truncated": scores.truncated,
        "no_action": scores.no_action,
    }
