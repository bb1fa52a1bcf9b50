"""A terminal that is read key by key, and that is as it was whatever happens."""

from __future__ import annotations

import os
import select
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from reflact.report.watch.keys import Keys

_DECIDE_S = 0.05
"""How long after an Escape the rest of a sequence may take."""


class Terminal:
    """Reads keys from a terminal, and tells of its changes of size and of being put into the background.

    Where keys cannot be read (standard input is no terminal, or the program runs in the background), it only waits.
    """

    def __init__(self, fd: int) -> None:
        """Use the terminal that `fd` is open on."""
        self._fd = fd
        self._keys = Keys()
        self._before: list[Any] | None = None
        self.suspended = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """Read keys while the block runs."""
        wake_read, self._wake = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(self._wake, False)
        self._woken = wake_read
        before = {number: signal.signal(number, self._note) for number in (signal.SIGWINCH, signal.SIGTSTP)}
        earlier = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        try:
            self.take()
            yield
        finally:
            self.give_back()
            signal.set_wakeup_fd(earlier)
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
            os.close(wake_read)
            os.close(self._wake)

    def take(self) -> None:
        """Let keys come one by one and without an echo; Ctrl-C and Ctrl-Z do what they always do."""
        if not os.isatty(self._fd) or not _in_front(self._fd):
            return
        try:
            self._before = termios.tcgetattr(self._fd)
            raw = termios.tcgetattr(self._fd)
            raw[3] &= ~(termios.ICANON | termios.ECHO)
            raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._fd, termios.TCSADRAIN, raw)
        except termios.error:
            self._before = None

    def give_back(self) -> None:
        """Put the terminal back as it was."""
        before, self._before = self._before, None
        if before is not None:
            with suppress(termios.error):  # it is gone
                termios.tcsetattr(self._fd, termios.TCSADRAIN, before)

    @property
    def has_keys(self) -> bool:
        """Whether keys are read."""
        return self._before is not None

    def wait(self, seconds: float) -> list[str]:
        """Wait for keys, a change of size or the time to pass; return the keys.

        Raises:
            EOFError: The terminal is gone.
        """
        found = self._read(seconds)
        while not found and self._keys.undecided:
            more = self._read(_DECIDE_S)
            found = more or self._keys.flush()
        return found

    def _read(self, seconds: float) -> list[str]:
        watched = [self._woken, *([self._fd] if self.has_keys else [])]
        ready, _, _ = select.select(watched, [], [], max(0.0, seconds))
        if self._woken in ready:
            with suppress(BlockingIOError):
                os.read(self._woken, 4096)
        if self._fd not in ready:
            return []
        try:
            data = os.read(self._fd, 4096)
        except OSError:
            data = b""
        if not data:
            raise EOFError
        return self._keys.feed(data)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.suspended = self.suspended or number == signal.SIGTSTP


def _in_front(fd: int) -> bool:
    """Whether changing the terminal would not stop this process, as it does one in the background."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return True  # it controls no session, so that there is no background
