"""Starting a run in a process of its own, and ending it with everything that it started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from reflact.confine.looking import descendants

NOTICES = (signal.SIGUSR1, signal.SIGUSR2)
"""What clusters send to all processes of a job some time before they end it. They are for the process that watches over
a run; the run itself, and what it starts, would die of them."""

_SET_CHILD_SUBREAPER = 36
_MOST = 4096


class Child:
    """A run's process, in a session of its own.

    The pipe to its standard input is its lifeline: it closes when this process ends, however it ends, and the run then
    stops itself.
    """

    def __init__(self, command: str, arguments: Sequence[str], cwd: str, grace_s: float, output: IO[bytes]) -> None:
        _adopt_orphans()
        self._before = set(_children())
        words = [sys.executable, "-P", "-m", "reflact.cli.child", str(grace_s), command, *arguments]
        # A child inherits what is blocked, and lets it through when it has learnt to ignore it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, NOTICES)
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=cwd, start_new_session=True
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self.pid = self._process.pid

    def ended(self) -> bool:
        """Whether it has ended. It stays a zombie until `finish`, so that its number is nobody else's."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def ask(self) -> None:
        """Ask it to save its state and stop."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it and all its descendants at once."""
        for pid in reversed(descendants(self.pid, _MOST)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def finish(self) -> int:
        """Wait for it, end what it left behind, and return its exit code (negative for a signal)."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        code = self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._end_orphans()
        return code

    def _end_orphans(self) -> None:
        """End processes that outlived the run in sessions of their own; they are this process's children now."""
        for pid in set(_children()) - self._before:
            for member in reversed(descendants(pid, _MOST)):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(member, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has died. Elsewhere than on Linux nothing happens."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children() -> list[int]:
    return [pid for pid in descendants(os.getpid(), _MOST)[1:] if _parent(pid) == os.getpid()]


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - many short reads
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError):
        return None
