"""Finding and ending the processes of a job that is not confined, by a mark in their environment.

A process that left its parent, its group and its session still has the environment that it was started with.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

MARK = "REFLACT_RUN_ID"
_ROUNDS = 500
_PAUSE_S = 0.01
_KERNEL_THREAD = 0x00200000
# Places in `/proc/PID/stat` after the name: the state, flags, the start, and where the environment ends.
_STATE, _FLAGS, _START, _ENVIRONMENT_END = 0, 6, 19, 48


def ticks_now() -> int:
    """Return the time since boot in the kernel's ticks, as the start of processes is given."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def end_marked(mark: str, since: int) -> int:
    """End every process with the mark and return how many are left, which is 0 unless they multiply faster.

    Found processes are all stopped before the first is killed, so that none can start another meanwhile.

    Args:
        mark: Value of the variable `MARK` in their environment.
        since: When the first of them was started, from `ticks_now`.
    """
    wanted = f"{MARK}={mark}".encode()
    left: list[int] = []
    for _ in range(_ROUNDS):
        left, unsettled = _look(wanted, since)
        if not left and not unsettled:
            return 0
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                _send(pid, sent, wanted)
        time.sleep(_PAUSE_S)
    return len(left)


def _look(wanted: bytes, since: int) -> tuple[list[int], bool]:
    """Return the marked processes, and whether there is one that may yet turn out to be marked.

    While a process becomes another program its environment reads as empty, on a busy machine for long; so does what was
    opened just before it became one, which a second look tells.
    """
    found, unsettled = [], False
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        pid = int(entry.name)
        environment = _environment(pid)
        if environment is None:
            continue
        if wanted in environment:
            found.append(pid)
        elif not any(environment) and (_becoming(pid, since) or any(_environment(pid) or ())):
            unsettled = True
    return found, unsettled


def _send(pid: int, sent: signal.Signals, wanted: bytes) -> None:
    with suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(pid)
        try:
            # Looked at again with the process held: the id may have become another's.
            if wanted in (_environment(pid) or ()):
                signal.pidfd_send_signal(handle, sent)
        finally:
            os.close(handle)


def _environment(pid: int) -> tuple[bytes, ...] | None:
    """Return a process's environment, None if there is no such process or it is another user's."""
    try:
        return tuple(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    except OSError:
        return None


def _becoming(pid: int, since: int) -> bool:
    """Whether a process that was started since then is becoming another program.

    Only then does it have no place for an environment at all; one that was started without has an empty place.
    """
    try:
        # The name in parentheses may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    if fields[_STATE] in "ZX" or int(fields[_FLAGS]) & _KERNEL_THREAD or int(fields[_START]) < since:
        return False
    return int(fields[_ENVIRONMENT_END]) == 0
