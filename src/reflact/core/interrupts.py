"""What SIGINT, SIGTERM and SIGHUP do to a command: they interrupt it wherever it is, and that is not forgotten.

An exception out of a signal handler can come up anywhere, also where it is swallowed (in a finaliser) or where another
one takes its place (in a `finally` that finds things half done). So the handler remembers, and what begins something
long asks first.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Iterable
from types import FrameType

from reflact.core.errors import Stopped
from reflact.core.names import StopCause

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end."""
_END_S = 2.0
"""In which a command that has chosen how it ends should have ended."""


class Interrupt(KeyboardInterrupt):
    """A signal asks the command to end.

    Not `KeyboardInterrupt` itself: where that comes up in a string that is executed, as importing a dataclass does,
    CPython ends a program that was started with `-m` by SIGINT at last, whatever exit code it has chosen.
    """


class Interrupts:
    """The handler.

    Attributes:
        received: Name of the first signal that came; `""` while none did.
    """

    def __init__(self) -> None:
        self.received = ""
        self._owner = os.getpid()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if os.getpid() != self._owner:  # a forked child that was not given its own way to end
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.received = self.received or signal.Signals(number).name
        raise Interrupt


class _Ending:
    """The handler of a command that has chosen its exit code: nothing changes it, but a hanging end is cut short."""

    def __init__(self, code: int) -> None:
        self._code = code
        self._since = time.monotonic()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if time.monotonic() - self._since > _END_S:
            os._exit(self._code)


def ending(code: int) -> None:
    """Let signals change nothing from now on: the command is about to end with this exit code.

    Not by ignoring them: programs that are started now would inherit that, and a thread that does not come back could
    hold the process for ever. Only at the very end, where the interpreter gives up its handlers, are they ignored.
    """
    if threading.current_thread() is threading.main_thread():
        handler = _Ending(code)
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)


def _ignore() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def listen() -> None:
    """Let signals interrupt this process from now on.

    Whoever started it with `nohup` wants SIGHUP to be ignored, and whoever has handlers of their own keeps them. Only
    the main thread gets signals; elsewhere nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    handler = Interrupts()
    for number in SIGNALS:
        before = signal.getsignal(number)
        if before in (signal.SIG_DFL, signal.default_int_handler) or isinstance(before, Interrupts | _Ending):
            signal.signal(number, handler)
    atexit.register(_ignore)


def interruption(handlers: Iterable[object] | None = None) -> str:
    """Return the name of a signal that has interrupted this process, `""` if none has.

    Args:
        handlers: The handlers of its signals; None is those of now.
    """
    if handlers is None:
        handlers = map(signal.getsignal, SIGNALS)
    return next((each.received for each in handlers if isinstance(each, Interrupts) and each.received), "")


def interrupted(name: str) -> Stopped:
    """Return the stop for a signal of this name; `""` for one that is not known."""
    return Stopped(StopCause.INTERRUPTED, f"interrupted by {name}" if name else "interrupted")


def require_uninterrupted(handlers: Iterable[object] | None = None) -> None:
    """Make sure that something long does not begin after a signal whose exception got lost.

    Args:
        handlers: As for `interruption`.

    Raises:
        Stopped: There was one.
    """
    if name := interruption(handlers):
        raise interrupted(name)
