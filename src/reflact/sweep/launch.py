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
from reflact.core.errors import ConfigError, ExitCode
from reflact.core.interrupts import require_uninterrupted
from reflact.core.names import RunState
from reflact.rundir.full import disk_stop
from reflact.rundir.owner import this_process
from reflact.sweep.abandoned import bury
from reflact.sweep.handed import Handed
from reflact.sweep.life import giving_signs
from reflact.sweep.queue import FOLDER, Job, LaunchQueue, Outcome, Rules
from reflact.sweep.ray_start import start_ray
from reflact.sweep.slurm import SlurmGone, SlurmJobs, slurm_jobs
from reflact.sweep.task import LaunchTask, heard_signals

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
        require_uninterrupted()
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
        self.task.queue = str(queue.folder.absolute())
        try:
            start_ray(self.launcher)
            beside = slurm_jobs(self.launcher, queue.closed, queue.stopped)
            with self._signals(queue), giving_signs(queue.sign), beside as slurm:
                self._launch(queue, slurm)
            return [(job, self._outcome(queue, job)) for job in jobs]
        finally:
            shutil.rmtree(queue.folder)
            with suppress(OSError):
                (self.root / FOLDER).rmdir()

    def _launch(self, queue: LaunchQueue, slurm: SlurmJobs | None) -> None:
        """Let the launcher start workers until every job was taken; one that breaks down is started again.

        Slurm is asked once: what somebody has cancelled there before it began is not submitted again.
        """
        while (untaken := queue.untaken()) and not queue.closed():
            size = len(untaken) if self.batch is None else self.batch
            for start in range(0, len(untaken), size):
                self._hand_over(untaken[start : start + size], queue, slurm)
            if slurm is not None:
                break

    def _hand_over(self, jobs: Sequence[Job], queue: LaunchQueue, slurm: SlurmJobs | None) -> None:
        before = len(queue.untaken())
        if before == 0 or queue.closed():
            return
        place = f"{FOLDER}/{queue.folder.name}"
        overrides = [[*self.labels(job), override("hydra.sweep.subdir", f"{place}/{job.number:04d}")] for job in jobs]
        over = False
        try:
            returned = self.launcher.launch(Handed(overrides, queue.closed), initial_job_idx=self._begun)
            over = True
            for job in returned:
                _ = job.return_value  # raises what went wrong in a worker
        except Exception as error:  # noqa: BLE001 - whatever it is, the other runs go on
            self._broke_down(error, queue, slurm, before)
        self._begun += len(jobs)
        self._settle(queue, slurm, over=over)

    def _broke_down(self, error: Exception, queue: LaunchQueue, slurm: SlurmJobs | None, untaken: int) -> None:
        if slurm is not None and slurm.submitted:
            return  # what became of its jobs is seen below
        if isinstance(error, OSError) and (stop := disk_stop(error, "the sweep's folder", resume=False)) is not None:
            raise stop from error  # nothing can be recorded any more: runs that go on see the queue vanish, and stop
        time.sleep(_SETTLE_S)
        if queue.closed():
            return
        what = f"{type(error).__name__}: {error}"
        if len(queue.untaken()) == untaken:
            raise ConfigError(f"the launcher (hydra/launcher) could start nothing: {what}") from error
        sys.stderr.write(f"reflact: the launcher broke down: {what}\n")

    def _settle(self, queue: LaunchQueue, slurm: SlurmJobs | None, *, over: bool) -> None:
        """Wait for runs that go on although their launcher has given up, and close the books of those that do not.

        Args:
            queue: The launch.
            slurm: The cluster's jobs.
            over: Whether the launcher has seen all its workers' ends: what still counts as working was left by one that
                could not even record how it ended.
        """
        try:
            while working := queue.working():
                ended = over if slurm is None else slurm.all_ended()
                for job in working if ended else queue.abandoned():
                    self._bury(queue, job, slurm)
                time.sleep(_SETTLE_S)
            while slurm is not None and not slurm.all_ended() and not (slurm.silent and not queue.untaken()):
                time.sleep(_SETTLE_S)
        except SlurmGone:
            assert slurm is not None
            self._leave(queue, slurm)

    def _bury(self, queue: LaunchQueue, job: Job, slurm: SlurmJobs | None) -> None:
        if queue.outcome(job) is None:
            bury(queue, job, {} if slurm is None else slurm.known())

    def _leave(self, queue: LaunchQueue, slurm: SlurmJobs) -> None:
        """End without Slurm: runs that see the stop save their state; others are taken for what their files say."""
        until = time.monotonic() + queue.rules.grace_s
        while queue.working() and time.monotonic() < until:
            time.sleep(_SETTLE_S)
        for job in queue.working():
            self._bury(queue, job, slurm)
        done = {queue.ticket(job) for job in queue.jobs if queue.outcome(job) is not None}
        left = [number for number in slurm.left() if number not in done]
        if left:
            sys.stderr.write(
                f"reflact: Slurm does not answer, so {len(left)} of its jobs may still be there; one that begins finds "
                f"the sweep over and ends. When Slurm is back: scancel {' '.join(left)}\n"
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

        before = {number: signal.signal(number, handle) for number in heard_signals()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def clear_dead_queues(root: Path) -> None:
    """Remove the queues of sweeps whose process is gone; their workers have noticed that themselves."""
    for folder in (root / FOLDER).glob("*"):
        try:
            dead = LaunchQueue(folder).orphaned()
        except (OSError, ValueError, KeyError):
            continue  # another sweep is just making or removing it
        if dead:
            shutil.rmtree(folder, ignore_errors=True)


def _resumed(job: Job, number: int) -> Job:
    kept = tuple(line for line in job.arguments if not line.startswith("run.resume="))
    return replace(job, number=number, attempt=job.attempt + 1, arguments=(*kept, "run.resume=true"))
