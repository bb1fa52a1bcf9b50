"""The border of confinement: a job with its limits in, how it ended out."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

KIB = 1024
MIB = 1024 * KIB
_SIGNALS = 128


class ConfinementError(Exception):
    """The means of confinement itself failed, so that the program was never started."""


class Ending(StrEnum):
    """Why a job ended."""

    EXITED = "exited"
    TIME = "time"
    OUTPUT = "output"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may take; passing a limit that is watched ends the whole job.

    Attributes:
        wall_s: Seconds from its start.
        memory_bytes: Address space of each process, and private memory of all of them together; None is no limit.
        file_bytes: Size of one file; None is no limit.
        folder_bytes: Size of all files in the writable folders; None is no limit.
        entries: Files and folders in the writable folders.
        processes: Processes at once.
        output_bytes: Bytes written to standard output, and to standard error.
        kept_bytes: The last bytes of each that are kept.
        address_space: `memory_bytes` also bounds the address space of each process; programs that reserve far more
            than they use cannot live with that.
    """

    wall_s: float
    memory_bytes: int | None = 2048 * MIB
    file_bytes: int | None = 256 * MIB
    folder_bytes: int | None = 512 * MIB
    entries: int = 10_000
    processes: int = 64
    output_bytes: int = 8 * MIB
    kept_bytes: int = 64 * KIB
    address_space: bool = True


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder that the job sees.

    Attributes:
        source: Where it is.
        target: Where the job finds it; None is the same place. Without confinement only the same place is possible.
        writable: Whether the job may change it.
    """

    source: Path
    target: str | None = None
    writable: bool = False

    @property
    def inside(self) -> str:
        """Its path as the job knows it."""
        return str(self.source) if self.target is None else self.target


@dataclass(frozen=True, slots=True)
class Door:
    """A service of ours inside a job's own network, where nothing else is.

    Attributes:
        port: Where the job finds it, on 127.0.0.1.
        opened: Is given the listening socket, to serve on it; the program starts when it has returned.
    """

    port: int
    opened: Callable[[socket.socket], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Job:
    """A program to run.

    Attributes:
        argv: The program and its arguments, with the paths that it knows.
        folder: Where it starts, as it knows it; one of its mounts or inside one.
        limits: What it may take.
        mounts: What it sees beside the system's own programs and libraries.
        hidden: Folders that must not be seen although a mount or the system's folders hold them.
        env: Its whole environment, beside `PATH`, `LANG`, `HOME` and `TMPDIR`, which have defaults.
        stdin: What it reads.
        scratch_bytes: Size of a private `/tmp` in memory; 0 is none. `TMPDIR` is the job's folder anyway.
        network: Whether it may use the host's network.
        door: A service inside its own network; only a confined job without the host's network has one.
        on_output: Is given what the job writes to standard output, as it comes; must return at once.
    """

    argv: tuple[str, ...]
    folder: str
    limits: Limits
    mounts: tuple[Mount, ...] = ()
    hidden: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    scratch_bytes: int = 0
    network: bool = False
    door: Door | None = None
    on_output: Callable[[bytes], None] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment with its defaults."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": self.folder,
            "TMPDIR": self.folder,
            **self.env,
        }


@dataclass(frozen=True, slots=True)
class ConfinedResult:
    """How a job ended. When it is there, no process of the job is left.

    Attributes:
        ending: Why it ended.
        code: Exit code of a program that ended by itself, 128 + n after signal n; None if it was ended.
        stdout: The last bytes of standard output.
        stderr: The last bytes of standard error.
        wall_s: Seconds that it took.
        peak_bytes: Largest private memory seen; coarse, 0 for a job too short to be looked at.
    """

    ending: Ending
    code: int | None
    stdout: bytes
    stderr: bytes
    wall_s: float
    peak_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Whether the program ended by itself and without an error."""
        return self.ending is Ending.EXITED and self.code == 0

    @property
    def cut_short(self) -> bool:
        """Whether a limit or a signal ended it."""
        return self.ending is not Ending.EXITED or self.code is None or self.code > _SIGNALS


class Confinement(Protocol):
    """A means of running jobs. How many run at once is the caller's business."""

    @property
    def name(self) -> str:
        """Its name in records."""
        ...

    @property
    def confined(self) -> bool:
        """Whether a job is kept from the rest of the machine."""
        ...

    async def run(self, job: Job) -> ConfinedResult:
        """Run a job to its end.

        When this returns, raises or is cancelled, everything that the job started has ended.

        Raises:
            ConfinementError: The program could not be started.
        """
        ...
