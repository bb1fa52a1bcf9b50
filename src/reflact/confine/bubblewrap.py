"""Bubblewrap: a view of the machine in which a job finds the system's programs and what it is given, and no more."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reflact.confine.cages import cage_root, caged
from reflact.confine.doors import Doorman, doorman
from reflact.confine.job import ConfinedResult, ConfinementError, Ending, Job
from reflact.confine.rlimits import limited
from reflact.confine.supervise import supervise

UID = 1000
_ROOTS = ("bin", "sbin", "lib", "lib32", "lib64")
_ETC = ("ld.so.cache", "alternatives", "ssl")
_SHM_BYTES = 64 * 1024 * 1024
_STATUS_BYTES = 64 * 1024
# bwrap itself and the first process of the job's own process namespace.
_OWN = 2


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Open descriptors that bwrap inherits: where it reports to, files of the job's `/etc`, and what it waits for."""

    status: int
    passwd: int
    group: int
    block: int | None = None

    @property
    def inherited(self) -> tuple[int, ...]:
        """All of them."""
        own = (self.status, self.passwd, self.group)
        return own if self.block is None else (*own, self.block)


class Bubblewrap:
    """Runs jobs with bubblewrap.

    Args:
        program: The program `bwrap`.
        clock: Monotonic seconds.
    """

    name = "bubblewrap"
    confined = True

    def __init__(self, program: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._program = program
        self._clock = clock
        self._cages = cage_root()

    async def run(self, job: Job) -> ConfinedResult:
        """Run a job; see `Confinement.run`."""
        with (
            _pipe() as (status, report),
            _text(_passwd(job)) as passwd,
            _text(f"student:x:{UID}:\n") as group,
            doorman(job.door, status) as keeper,
        ):
            fds = Descriptors(report, passwd, group, keeper.block)
            whole = command(self._program, job, fds)
            with caged(self._cages, job.limits.processes + _OWN, whole) as argv:
                async with keeper:
                    result = await supervise(
                        argv,
                        job,
                        env={},  # bwrap's own environment can be read in the job, as that of process 1
                        cwd="/",
                        kill=partial(_kill, keeper),
                        clock=self._clock,
                        pass_fds=fds.inherited,
                        own=_OWN,
                    )
            os.set_blocking(status, False)
            told = keeper.told
            with suppress(BlockingIOError):
                told += os.read(status, _STATUS_BYTES)
        if result.ending is Ending.EXITED and not started(told):
            raise ConfinementError(f"bubblewrap did not start the program: {last_line(result.stderr)}")
        return result


def command(program: Path, job: Job, fds: Descriptors) -> list[str]:
    """Return the whole command line of a job."""
    # As root bwrap makes no user namespace unless told to, and leaves all capabilities; with another uid inside the
    # job has none, whoever started it.
    options = [
        *("--die-with-parent", "--new-session", "--json-status-fd", str(fds.status)),
        *("--unshare-user", "--uid", str(UID), "--gid", str(UID)),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(() if job.network else ("--unshare-net",)),
        *(() if fds.block is None else ("--block-fd", str(fds.block))),
        *_system(),
        *("--ro-bind-data", str(fds.passwd), "/etc/passwd", "--ro-bind-data", str(fds.group), "/etc/group"),
        # A private /dev would be memory without a limit.
        *("--proc", "/proc", "--dev", "/dev", "--size", str(_SHM_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *(("--size", str(job.scratch_bytes), "--tmpfs", "/tmp") if job.scratch_bytes else ()),
        *_mounts(job),
        *("--remount-ro", "/", "--chdir", job.folder),
    ]
    for name, value in job.environment.items():
        options += ["--setenv", name, value]
    return [str(program), *options, "--", *limited(job.argv, job.limits, count_processes=True)]


def started(status: bytes) -> bool:
    """Whether the report says that the program was started: only then does it hold an exit code."""
    for line in status.decode(errors="replace").splitlines():
        with suppress(ValueError):
            report = json.loads(line)
            if isinstance(report, dict) and "exit-code" in report:
                return True
    return False


def last_line(stderr: bytes) -> str:
    """Return the last line that is not blank."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _ROOTS:
        path = Path("/") / name
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _mounts(job: Job) -> Iterator[str]:
    read_only = [mount for mount in job.mounts if not mount.writable]
    for mount in read_only:
        yield from ("--ro-bind", str(mount.source), mount.inside)
    shown = [Path("/usr"), *(Path(mount.inside) for mount in read_only)]
    for folder in job.hidden:
        # What no mount holds is not there anyway, and could not be covered.
        if folder.is_dir() and any(folder.is_relative_to(tree) for tree in shown):
            yield from ("--tmpfs", str(folder), "--remount-ro", str(folder))
    for mount in job.mounts:
        if mount.writable:
            yield from ("--bind", str(mount.source), mount.inside)


def _passwd(job: Job) -> str:
    # Codex runs commands with the shell that stands here, and models write for bash.
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    return f"student:x:{UID}:{UID}::{job.environment['HOME']}:{shell}\n"


def _kill(keeper: Doorman, pid: int, alive: bool) -> None:
    # Everything inside ends with bwrap, since the process namespace does. An id that was waited for may be another's.
    if alive:
        keeper.end()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def _text(content: str) -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        file.write(content.encode())
        file.seek(0)
        yield file.fileno()
