"""Starting the runs of a plan through a Hydra launcher, again where that is called for, until each has ended."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from reflact.config.overrides import override
from reflact.config.run_id import stamp
from reflact.core.errors import ExitCode
from reflact.core.names import RunState
from reflact.rundir.owner import is_gone, this_process
from reflact.sweep.ledger import Ledger
from reflact.sweep.queue import FOLDER, Job, LaunchQueue, Outcome, Rules
from reflact.sweep.task import SIGNALS, LaunchTask

_RETRIED = frozenset({ExitCode.BUG, ExitCode.UNAVAILABLE})
"""Exit codes after which a second try may help; a wrong configuration stays wrong."""

_SETTLE_S = 0.3


class HydraLauncher(Protocol):
    """What is used of Hydra's launchers."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[Any]:
        """Run jobs and return what came of them."""
        ...


@dataclass(slots=True)
class Launch:
    """Runs jobs to their ends.

    Attributes:
        root: The sweep's root.
        launcher: Hydra's.
        task: What the launcher calls.
        rules: How jobs are started and watched.
        retries: Times that a failed run is resumed after the others.
        labels: Overrides under which the launcher lists each run, by run id.
        batch: Most jobs that the launcher gets at once; None is all.
    """

    root: Path
    launcher: HydraLauncher
    task: LaunchTask
    rules: Rules
    retries: int
    labels: Callable[[Job], Sequence[str]]
    batch: int | None
    _begun: int = 0
    _interrupted: str = ""

    def run(self, jobs: Sequence[Job]) -> list[tuple[Job, Outcome]]:
        """Run all jobs, failed ones again, and return how each ended, in order."""
        results = self._wave(list(jobs))
        for _ in range(self.retries):
            again = [(place, job) for place, (job, outcome) in enumerate(results) if self._again(outcome)]
            if not again or self._interrupted:
                break
            resumed = [_resumed(job, number) for number, (_, job) in enumerate(again)]
            for (place, _), result in zip(again, self._wave(resumed), strict=True):
                if result[1].state is not RunState.PLANNED:
                    results[place] = result
        return results

    def _again(self, outcome: Outcome) -> bool:
        if outcome.state is not RunState.FAILED or self.rules.on_failure == "stop":
            return False
        return outcome.code is None or outcome.code < 0 or outcome.code in _RETRIED

    def _wave(self, jobs: list[Job]) -> list[tuple[Job, Outcome]]:
        """Run jobs once."""
        queue = LaunchQueue.create(self.root / FOLDER / stamp(), this_process(), self.rules, jobs)
        self.task.queue = str(queue.folder)
        try:
            with self._signals(queue):
                self._launch(queue)
            return [(job, self._outcome(queue, job)) for job in jobs]
        finally:
            shutil.rmtree(queue.folder)
            with suppress(OSError):
                (self.root / FOLDER).rmdir()

    def _launch(self, queue: LaunchQueue) -> None:
        """Let the launcher start workers until every job was taken; one that breaks down is started again."""
        while True:
            untaken = queue.untaken()
            if not untaken or queue.closed():
                break
            overrides = [
                [*self.labels(job), override("hydra.sweep.subdir", f"{FOLDER}/{queue.folder.name}/{job.number:04d}")]
                for job in untaken
            ]
            try:
                self._hand_over(overrides)
            except Exception as error:  # whatever it is, the other runs go on
                sys.stderr.write(f"reflact: the launcher broke down: {type(error).__name__}: {error}\n")
                time.sleep(_SETTLE_S)
                if len(queue.untaken()) == len(untaken):
                    raise  # it cannot start anything at all
            self._bury(queue)

    def _hand_over(self, overrides: list[list[str]]) -> None:
        size = len(overrides) if self.batch is None else self.batch
        for start in range(0, len(overrides), size):
            batch = overrides[start : start + size]
            for job in self.launcher.launch(batch, initial_job_idx=self._begun):
                _ = job.return_value  # raises what went wrong in a worker
            self._begun += len(batch)

    def _bury(self, queue: LaunchQueue) -> None:
        """Record the jobs whose worker died; their runs have lost their lifeline and stop themselves."""
        ledger = Ledger(self.root, time.time)
        for job in queue.abandoned():
            outcome = Outcome(job.number, RunState.FAILED, "worker", "the process that watched over it was killed")
            queue.end(outcome)
            ledger.write(
                job.run_id,
                outcome.state,
                benchmark=job.benchmark,
                out_dir=job.out_dir,
                attempt=job.attempt,
                cause=outcome.cause,
                message=outcome.message,
            )

    def _outcome(self, queue: LaunchQueue, job: Job) -> Outcome:
        outcome = queue.outcome(job)
        return outcome or Outcome(job.number, RunState.PLANNED, message=queue.closed() or "it was never started")

    @contextmanager
    def _signals(self, queue: LaunchQueue) -> Iterator[None]:
        """Turn signals into "start nothing more and stop what runs" while the block runs."""

        def handle(number: int, frame: FrameType | None) -> None:
            self._interrupted = f"the sweep got {signal.Signals(number).name}"
            queue.stop(self._interrupted)

        before = {number: signal.signal(number, handle) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def clear_dead_queues(root: Path) -> None:
    """Remove the queues of sweeps whose process is gone; their workers have noticed that themselves."""
    for folder in (root / FOLDER).glob("*"):
        try:
            dead = is_gone(LaunchQueue(folder).sweeper)
        except (OSError, ValueError, KeyError):
            continue  # another sweep is just making or removing it
        if dead:
            shutil.rmtree(folder, ignore_errors=True)


def _resumed(job: Job, number: int) -> Job:
    kept = tuple(line for line in job.arguments if not line.startswith("run.resume="))
    return replace(job, number=number, attempt=job.attempt + 1, arguments=(*kept, "run.resume=true"))
