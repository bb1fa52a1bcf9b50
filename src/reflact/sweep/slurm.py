"""The jobs that a launch has in Slurm: what became of them, and taking back those that have not begun.

submitit learns what became of a job from `sacct`, which many clusters cannot answer, and then waits for ever for one
that was cancelled or killed. `squeue` always answers. So while a launch runs, `SlurmJobs` stands where submitit keeps
what it knows (`SlurmJob.watcher`) and is asked about once a second.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_FORGOTTEN = "FORGOTTEN"
"""A job that Slurm does not list any more; it keeps ended ones for some minutes."""

_ENDED = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "REVOKED", "TIMEOUT"}
    | {_FORGOTTEN}
)

_DEADLINE_S = 60.0
_FIRST_LOOK_S, _LAST_LOOK_S = 2.0, 30.0

Run = Callable[[Sequence[str]], str]


def run_command(words: Sequence[str]) -> str:
    """Run one of Slurm's commands and return what it prints.

    Raises:
        OSError, subprocess.SubprocessError: It cannot be run, fails, or does not end.
    """
    done = subprocess.run(words, capture_output=True, timeout=_DEADLINE_S, stdin=subprocess.DEVNULL, check=True)
    return done.stdout.decode("utf-8", "replace")


class SlurmJobs:
    """All jobs of one launch; with the methods that submitit calls on its own `InfoWatcher`.

    Args:
        closed: Says whether nothing more is to start: what waits in Slurm is then taken back.
        run: Runs a command.
        clock: Returns seconds that only grow.
    """

    def __init__(
        self, closed: Callable[[], object], run: Run = run_command, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._closed = closed
        self._run = run
        self._clock = clock
        self._states: dict[str, str] = {}
        self._begun = clock()
        self._looked: float | None = None
        self._withdrawn = False
        self._silent = False

    @property
    def submitted(self) -> bool:
        """Whether Slurm has taken any."""
        return bool(self._states)

    def states(self) -> Mapping[str, str]:
        """Return the last known state of each job by its number, in Slurm's words; `""` before the first look."""
        self._look()
        return self._states

    def all_ended(self) -> bool:
        """Whether none of them runs or can still begin."""
        self._tend()
        return all(state in _ENDED for state in self._states.values())

    def register_job(self, job_id: str) -> None:
        """Take note of a job that was just submitted."""
        self._states.setdefault(job_id, "")
        self._looked = None

    def is_done(self, job_id: str, mode: str = "standard") -> bool:
        """Whether a job has ended, in whatever way."""
        self._tend()
        return self._states.get(job_id) in _ENDED

    def get_state(self, job_id: str, mode: str = "standard") -> str:
        """Return a job's state."""
        self._look()
        return self._states.get(job_id) or "UNKNOWN"

    def get_info(self, job_id: str, mode: str = "standard") -> dict[str, str]:
        """Return what is known of a job."""
        return {"JobID": job_id, "State": self.get_state(job_id)}

    def _tend(self) -> None:
        if not self._withdrawn and self._states and self._closed():
            self._withdrawn = True
            self._withdraw()
        self._look()

    def _withdraw(self) -> None:
        """Cancel what has not begun; what runs stops by itself and saves its state."""
        try:
            self._run(["scancel", "--quiet", "--state=PENDING", *self._states])
        except (OSError, subprocess.SubprocessError) as error:
            _say(f"could not take back the jobs that wait in Slurm: {_reason(error)}; `squeue --me` shows them")
        self._looked, self._begun = None, self._clock()

    def _look(self) -> None:
        now = self._clock()
        pause = min(_LAST_LOOK_S, max(_FIRST_LOOK_S, (now - self._begun) / 4))
        if not self._states or (self._looked is not None and now - self._looked < pause):
            return
        self._looked = now
        try:
            text = self._run(["squeue", "--me", "--array", "--noheader", "--states=all", "--format=%i %T"])
        except (OSError, subprocess.SubprocessError) as error:
            if not self._silent:
                _say(f"Slurm does not say what became of its jobs: {_reason(error)}; asking again")
            self._silent = True
            return
        self._silent = False
        listed = dict(line.split(None, 1) for line in text.splitlines() if len(line.split()) == 2)
        for job_id, before in self._states.items():
            if before not in _ENDED:
                self._states[job_id] = listed.get(job_id, _FORGOTTEN)


@contextmanager
def slurm_jobs(launcher: object, closed: Callable[[], object]) -> Iterator[SlurmJobs | None]:
    """Stand beside a launcher while it launches; gives None where it does not launch in Slurm."""
    if getattr(launcher, "_EXECUTOR", "") != "slurm":
        yield None
        return
    from submitit.slurm.slurm import SlurmJob

    job: Any = SlurmJob
    jobs, before = SlurmJobs(closed), job.watcher
    job.watcher = jobs
    try:
        yield jobs
    finally:
        job.watcher = before


def _say(text: str) -> None:
    sys.stderr.write(f"reflact: {text}\n")


def _reason(error: Exception) -> str:
    said = getattr(error, "stderr", None) or b""
    return said.decode("utf-8", "replace").strip() or str(error)
