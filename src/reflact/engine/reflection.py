"""Reflect while the rollout still runs: a minibatch is analysed as soon as all its members are known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reflact.core.names import RowStatus
from reflact.engine.batches import MicroBatch
from reflact.engine.rows import trajectory
from reflact.engine.scores import RowRef
from reflact.engine.workbench import Workbench
from reflact.optimizer.reflect import AnalysisRecord, Minibatch, Minibatcher, analyse
from reflact.optimizer.types import StepContext
from reflact.rundir.layout import StepFolder


@dataclass(slots=True)
class _Prefix:
    """The rows of one micro-batch, fed to its minibatcher in batch order."""

    start: int
    size: int
    minibatcher: Minibatcher
    rows: dict[int, RowRef] = field(default_factory=dict)
    fed: int = 0


class Reflection:
    """Groups rows in batch order and starts one analysis a minibatch.

    Args:
        bench: The run's parts.
        group: Where analyses run; its end is the end of all of them.
        context: What every call may see.
        batches: The step's micro-batches, in order; minibatches never span two of them.
        folder: The step's folder.
        on_success: Called when an analysis was accepted.
    """

    def __init__(
        self,
        bench: Workbench,
        group: asyncio.TaskGroup,
        context: StepContext,
        batches: Sequence[MicroBatch],
        folder: StepFolder,
        on_success: Callable[[], None],
    ) -> None:
        self._bench = bench
        self._group = group
        self._context = context
        self._folder = folder
        self._journal = bench.journal(folder.path)
        self._on_success = on_success
        self._tasks: list[tuple[tuple[int, object], asyncio.Task[AnalysisRecord]]] = []
        self._prefixes: list[_Prefix] = []
        start = 0
        for number, batch in enumerate(batches):
            prefix = "" if number == 0 else f"micro{number + 1}_"
            gradient = bench.config.gradient
            minibatcher = Minibatcher(gradient.minibatch_size, gradient.failure_only, prefix)
            self._prefixes.append(_Prefix(start, len(batch.indices), minibatcher))
            start += len(batch.indices)

    def feed(self, index: int, row: RowRef) -> None:
        """Take a final row of the rollout; rows may come in any order."""
        number = next(n for n, p in enumerate(self._prefixes) if index < p.start + p.size)
        prefix = self._prefixes[number]
        prefix.rows[index - prefix.start] = row
        while prefix.fed in prefix.rows:
            member = prefix.rows.pop(prefix.fed)
            prefix.fed += 1
            if member.status is not RowStatus.ERROR:
                rollout, gold = self._folder.rollout, self._bench.gold_for_teacher
                self._start(number, prefix.minibatcher.add(trajectory(rollout, member, gold=gold)))

    def finish(self) -> None:
        """Start what is left once the rollout is complete."""
        for number, prefix in enumerate(self._prefixes):
            self._start(number, prefix.minibatcher.finish())

    def records(self) -> list[AnalysisRecord]:
        """Return the analyses in order: micro-batch by micro-batch, failures first."""
        ordered = sorted(self._tasks, key=lambda entry: entry[0])
        return [task.result() for _, task in ordered]

    def _start(self, number: int, minibatches: Sequence[Minibatch]) -> None:
        if self._context.cap == 0:
            return  # nothing could be applied, so nothing is asked
        for minibatch in minibatches:
            task = self._group.create_task(self._analyse(minibatch))
            self._tasks.append(((number, minibatch.place), task))

    async def _analyse(self, minibatch: Minibatch) -> AnalysisRecord:
        record = await analyse(minibatch, self._context, self._bench.teacher, self._journal)
        if record.cause is None:
            self._on_success()
        return record
