"""Who a process is, in a way that survives reuse of its number, a reboot and a look from inside a container."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Process:
    """Identity of a process.

    Attributes:
        pid: Its number in its pid namespace.
        started: When it started, in the kernel's clock ticks since boot; None where there is no `/proc`.
        boot_id: The boot of the machine that it runs on; None where it cannot be read.
        pid_namespace: Inode of its pid namespace; None where it cannot be read.
        host: Name of the machine, for people.
    """

    pid: int
    started: int | None
    boot_id: str | None
    pid_namespace: int | None
    host: str

    def to_json(self) -> dict[str, Any]:
        """Return the identity as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Process:
        """Read an identity written by `to_json`.

        Raises:
            KeyError, TypeError, ValueError: The object is not one.
        """
        pid = int(data["pid"])
        if pid <= 0:  # kill(0) and below address groups of processes
            raise ValueError(f"not a process number: {pid}")
        return cls(pid, data["started"], data["boot_id"], data["pid_namespace"], str(data["host"]))


def this_process() -> Process:
    """Return the calling process's identity."""
    pid = os.getpid()
    stat = _stat(pid)
    return Process(
        pid=pid,
        started=stat[1] if stat else None,
        boot_id=_boot_id(),
        pid_namespace=_pid_namespace(),
        host=socket.gethostname(),
    )


def is_gone(process: Process) -> bool | None:
    """Whether a process has ended; None where its number means nothing here (another host, boot or namespace)."""
    boot_id, namespace = _boot_id(), _pid_namespace()
    if None in (boot_id, namespace) or (process.boot_id, process.pid_namespace) != (boot_id, namespace):
        return None
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it exists and is another user's
    stat = _stat(process.pid)
    if stat is None:
        return None  # hidden from this user, or ended since the last line
    state, started = stat
    return state in ("Z", "X") or started != process.started


def _stat(pid: int) -> tuple[str, int] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = text.rpartition(b")")[2].split()  # the command's name may hold blanks and brackets
    return fields[0].decode("ascii"), int(fields[19])


def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


def _pid_namespace() -> int | None:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return None
