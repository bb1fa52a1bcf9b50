"""The jobs of a launch on disk, where launchers on any machine of the study take them from.

A launcher starts as many workers as there are jobs, so many at once as it is told to. Which job a worker does is
decided only when it starts: the first that may run now. A fixed assignment would let runs that have to wait (for a
ceiling of their benchmark) hold places that others could use.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reflact.core.names import RunState
from reflact.rundir.atomic import write_json
from reflact.rundir.owner import Process
from reflact.sweep.life import give_sign, has_died
from reflact.sweep.memory import free_memory_gb

FOLDER = ".launch"
"""Where queues are, below a sweep's root; hidden, so that nobody looks for runs in it."""
SETTLE_S = 20.0
"""Between two starts on one machine where `sweep.min_free_memory_gb` is set: a run has loaded what it needs by then."""


@dataclass(frozen=True, slots=True)
class Job:
    """A run to be started.

    Attributes:
        number: Its place in the queue.
        run_id: Its id.
        benchmark: Its benchmark.
        command: `train` or `evaluate`.
        arguments: The command line.
        out_dir: Its directory.
        attempt: 1, or more for one that is resumed after it failed.
        identity: Hash of what the run computes, to tell whether one that somebody else does is the same.
        code: The code version that it must be done by; `""` is any.
    """

    number: int
    run_id: str
    benchmark: str
    command: str
    arguments: tuple[str, ...]
    out_dir: str
    attempt: int = 1
    identity: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """How jobs are started and watched; the attributes are keys under `sweep.`."""

    max_parallel: Mapping[str, int]
    min_free_memory_gb: float
    max_run_s: float
    grace_s: float
    on_failure: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended.

    Attributes:
        number: Its place in the queue.
        state: `done`, `stopped`, `failed` or `refused`; `planned` if it was never started, `running` if another sweep
            is at it.
        cause: In one word or two.
        message: For people.
        code: Exit code, negative for a signal; None if it was never started.
        score: Best selection score of a complete run.
    """

    number: int
    state: RunState
    cause: str = ""
    message: str = ""
    code: int | None = None
    score: float | None = None


class LaunchQueue:
    """One launch's jobs; every process has an object of its own."""

    def __init__(self, folder: Path) -> None:
        data = json.loads((folder / "jobs.json").read_text(encoding="utf-8"))
        self.folder = folder
        self.cwd = str(data["cwd"])
        self.sweeper = Process.from_json(data["sweeper"])
        self.rules = Rules(**data["rules"])
        self.jobs = [Job(**{**job, "arguments": tuple(job["arguments"])}) for job in data["jobs"]]

    @classmethod
    def create(cls, folder: Path, sweeper: Process, rules: Rules, jobs: Sequence[Job]) -> LaunchQueue:
        """Write a queue for jobs that start in the current folder."""
        folder.mkdir(parents=True)
        data = {
            "cwd": os.getcwd(),  # noqa: PTH109 - as text, for a child process
            "sweeper": sweeper.to_json(),
            "rules": asdict(rules),
            "jobs": [asdict(job) for job in jobs],
        }
        write_json(folder / "jobs.json", data)
        return cls(folder)

    @property
    def root(self) -> Path:
        """The sweep's root."""
        return self.folder.parent.parent

    @property
    def sign(self) -> Path:
        """The file whose time of change is the sweep's sign of life."""
        return self.folder / "jobs.json"

    def orphaned(self) -> bool:
        """Whether the process of the sweep has ended."""
        return has_died(self.sweeper, self.sign)

    def take(
        self, me: Process, ticket: str = "", free_gb: Callable[[], float | None] = free_memory_gb
    ) -> tuple[Job | None, bool]:
        """Take the first job that may start now.

        Args:
            me: The worker.
            ticket: What the launcher calls the worker's place (a number in Slurm).
            free_gb: Returns how much memory is free here.

        Returns:
            The job or None, and whether any job is left that waits for a ceiling or for memory.
        """
        with self._locked():
            if self.closed():
                return None, False
            pending = [job for job in self.jobs if not self._taken(job.number).exists()]
            busy = self._busy()
            if not self._room(me, free_gb):
                return None, bool(pending)
            for job in pending:
                most = self.rules.max_parallel.get(job.benchmark)
                if most is None or busy.get(job.benchmark, 0) < most:
                    write_json(self._taken(job.number), {**me.to_json(), "ticket": ticket, "time": time.time()})
                    return job, True
            return None, bool(pending)

    def end(self, outcome: Outcome) -> None:
        """Record how a job ended."""
        write_json(self._ended(outcome.number), {**asdict(outcome), "state": outcome.state.value})

    def outcome(self, job: Job) -> Outcome | None:
        """Return how a job ended, None if it has not."""
        try:
            data: dict[str, Any] = json.loads(self._ended(job.number).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return Outcome(**{**data, "state": RunState(data["state"])})

    def untaken(self) -> list[Job]:
        """Return the jobs that nobody has taken, in order."""
        return [job for job in self.jobs if not self._taken(job.number).exists()]

    def working(self) -> list[Job]:
        """Return the jobs that were taken and have not ended."""
        return [job for job in self.jobs if self._taken(job.number).exists() and self.outcome(job) is None]

    def abandoned(self) -> list[Job]:
        """Return the jobs whose worker is gone before they ended."""
        return [job for job in self.working() if self._worker_died(job.number)]

    def ticket(self, job: Job) -> str:
        """Return what the launcher calls the place of the worker that took a job."""
        return str(json.loads(self._taken(job.number).read_text(encoding="utf-8")).get("ticket", ""))

    def still_working(self, job: Job) -> None:
        """Give a sign of life of the worker that took a job."""
        give_sign(self._taken(job.number))

    def stop(self, why: str) -> None:
        """Start nothing more and stop what runs."""
        self._ask("stop.json", why)

    def drain(self, why: str) -> None:
        """Start nothing more; what runs goes on."""
        self._ask("drain.json", why)

    def stopped(self) -> str:
        """Return why everything is to stop, `""` if it is not."""
        return self._asked("stop.json") if self.folder.exists() else "the sweep is over"

    def closed(self) -> str:
        """Return why nothing more is started, `""` if something may be."""
        return self.stopped() or self._asked("drain.json")

    def _ask(self, name: str, why: str) -> None:
        try:
            write_json(self.folder / name, why)
        except OSError:
            with suppress(OSError):
                (self.folder / name).touch()  # a full disk mostly has room for a name

    def _asked(self, name: str) -> str:
        try:
            text = (self.folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        return str(json.loads(text)) if text else "the sweep was told to stop, and its disk takes nothing more"

    def _room(self, me: Process, free_gb: Callable[[], float | None]) -> bool:
        """Whether there is memory for a start on this machine.

        A run that has just begun does not have its memory yet: places that become free in the same moment would all see
        the same gigabytes. So after one start the next waits until its memory can be seen.
        """
        least = self.rules.min_free_memory_gb
        if least <= 0:
            return True
        for job in self.working():
            path = self._taken(job.number)
            owner = Process.from_json(json.loads(path.read_text(encoding="utf-8")))
            if owner.boot_id == me.boot_id and time.time() - self._began(job.number) < SETTLE_S:
                return False
        free = free_gb()
        return free is None or free >= least

    def _began(self, number: int) -> float:
        return float(json.loads(self._taken(number).read_text(encoding="utf-8")).get("time", 0.0))

    def _busy(self) -> dict[str, int]:
        """Return how many jobs of each benchmark run now."""
        busy: dict[str, int] = {}
        for job in self.jobs:
            running = self._taken(job.number).exists() and not self._ended(job.number).exists()
            if running and not self._worker_died(job.number):
                busy[job.benchmark] = busy.get(job.benchmark, 0) + 1
        return busy

    def _taken(self, number: int) -> Path:
        return self.folder / f"{number:04d}.taken.json"

    def _ended(self, number: int) -> Path:
        return self.folder / f"{number:04d}.ended.json"

    def _worker_died(self, number: int) -> bool:
        path = self._taken(number)
        return has_died(Process.from_json(json.loads(path.read_text(encoding="utf-8"))), path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fd = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def jobs_ended(root: Path) -> int:
    """Return how many jobs of the launches under way in a root have ended."""
    return sum(1 for _ in (root / FOLDER).glob("*/*.ended.json"))
