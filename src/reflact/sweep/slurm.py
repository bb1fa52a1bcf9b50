"""The jobs that a launch has in Slurm: what became of them, and taking back those that have not begun.

submitit learns what became of a job from `sacct`, which many clusters cannot answer, and then waits for ever for one
that was cancelled or killed. `squeue` always answers. So while a launch runs, `SlurmJobs` stands where submitit keeps
what it knows (`SlurmJob.watcher`) and is asked about once a second.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

_FORGOTTEN = "FORGOTTEN"
"""A job that Slurm does not list any more; it keeps ended ones for some minutes."""

_ENDED = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "REVOKED", "TIMEOUT"}
    | {_FORGOTTEN}
)

_DEADLINE_S = 60.0
_LAST_DEADLINE_S = 10.0
"""For an answer after the sweep was told to stop."""

_SQUEUE = ("squeue", "--me", "--array", "--noheader", "--states=all", "--format=%i %T")
_FIRST_LOOK_S, _LAST_LOOK_S = 2.0, 30.0

_LOOK_S = 0.1

Run = Callable[[Sequence[str], Callable[[], object]], str]


class SlurmGone(Exception):
    """Slurm does not answer, and nobody waits for it any more."""


def run_command(words: Sequence[str], stopped: Callable[[], object]) -> str:
    """Run one of Slurm's commands and return what it prints.

    Args:
        words: The command.
        stopped: Says whether the sweep was told to stop: nobody then waits a minute for an answer.

    Raises:
        OSError, subprocess.SubprocessError: It cannot be run, fails, or does not end.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            code = _wait(process, stopped)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        said, told = _read(out), _read(err)
    if code != 0:
        raise subprocess.CalledProcessError(code, list(words), said, told)
    return said.decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes], stopped: Callable[[], object]) -> int:
    """Wait for the end of a command; the deadline comes nearer when the sweep is told to stop."""
    begun, hurried = time.monotonic(), None
    while (code := process.poll()) is None:
        now = time.monotonic()
        if hurried is None and stopped():
            hurried = now
        over = begun + _DEADLINE_S if hurried is None else min(begun + _DEADLINE_S, hurried + _LAST_DEADLINE_S)
        if now > over:
            raise subprocess.TimeoutExpired(process.args, now - begun)
        time.sleep(_LOOK_S)
    return code


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


class SlurmJobs:
    """All jobs of one launch; with the methods that submitit calls on its own `InfoWatcher`.

    Args:
        closed: Says whether nothing more is to start: what waits in Slurm is then taken back.
        stopped: Says whether everything is to end: an answer is then not waited for any more.
        run: Runs a command.
        clock: Returns seconds that only grow.
    """

    def __init__(
        self,
        closed: Callable[[], object],
        stopped: Callable[[], object],
        run: Run = run_command,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._closed = closed
        self._stopped = stopped
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

    def known(self) -> Mapping[str, str]:
        """Return the same without asking."""
        return self._states

    def all_ended(self) -> bool:
        """Whether none of them runs or can still begin.

        Raises:
            SlurmGone: As for `is_done`.
        """
        self._tend()
        return not self.left()

    def left(self) -> list[str]:
        """Return the jobs of which it is not known that they have ended, without asking."""
        return [job_id for job_id, state in self._states.items() if state not in _ENDED]

    @property
    def silent(self) -> bool:
        """Whether Slurm gave no answer when it was asked last."""
        return self._silent

    def register_job(self, job_id: str) -> None:
        """Take note of a job that was just submitted."""
        self._states.setdefault(job_id, "")
        self._looked = None

    def is_done(self, job_id: str, mode: str = "standard") -> bool:
        """Whether a job has ended, in whatever way.

        Raises:
            SlurmGone: The sweep is to end, and Slurm does not answer.
        """
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
        closed = bool(self._states) and bool(self._closed())
        if closed and not self._withdrawn:
            self._withdrawn = True
            self._looked, self._begun = None, self._clock()
            self._withdraw()
        if self._look() and closed and "PENDING" in self._states.values():
            self._withdraw()
        if self._silent and self.left() and self._stopped():
            raise SlurmGone("Slurm does not answer")

    def _withdraw(self) -> None:
        """Cancel what has not begun; what runs stops by itself and saves its state.

        `scancel` fails for a job that begins or ends in that moment, and then lets others wait too: how they are is
        seen by the next look, and what still waits is cancelled again.
        """
        try:
            self._run(["scancel", "--quiet", "--state=PENDING", *self._states], self._stopped)
        except subprocess.CalledProcessError as error:
            if said := (error.stderr or b"").strip():
                _say(f"could not take back all jobs that wait in Slurm: {said.decode('utf-8', 'replace')}")
        except (OSError, subprocess.SubprocessError) as error:
            _say(f"could not take back the jobs that wait in Slurm: {_reason(error)}")
            self._silent, self._looked = True, self._clock()

    def _look(self) -> bool:
        """Ask how the jobs are, if it is time to; returns whether Slurm has just told it."""
        now = self._clock()
        pause = min(_LAST_LOOK_S, max(_FIRST_LOOK_S, (now - self._begun) / 4))
        if not self._states or (self._looked is not None and now - self._looked < pause):
            return False
        self._looked = now
        try:
            text = self._run(_SQUEUE, self._stopped)
        except (OSError, subprocess.SubprocessError) as error:
            if not self._silent:
                _say(
                    f"Slurm does not say what became of its jobs: {_reason(error)}; asking again "
                    "(Ctrl-C or SIGTERM ends the sweep)"
                )
            self._silent = True
            return False
        self._silent = False
        listed = dict(line.split(None, 1) for line in text.splitlines() if len(line.split()) == 2)
        for job_id, before in self._states.items():
            if before not in _ENDED:
                self._states[job_id] = listed.get(job_id, _FORGOTTEN)
        return True


@contextmanager
def slurm_jobs(
    launcher: object, closed: Callable[[], object], stopped: Callable[[], object]
) -> Iterator[SlurmJobs | None]:
    """Stand beside a launcher while it launches; gives None where it does not launch in Slurm."""
    if getattr(launcher, "_EXECUTOR", "") != "slurm":
        yield None
        return
    from submitit.slurm.slurm import SlurmJob

    job: Any = SlurmJob
    jobs, before = SlurmJobs(closed, stopped), job.watcher
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
