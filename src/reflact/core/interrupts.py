"""What SIGINT, SIGTERM and SIGHUP do to a command: they interrupt it wherever it is, and that is not forgotten.

An exception out of a signal handler can come up anywhere, also where it is swallowed (in a finaliser) or where another
one takes its place (in a `finally` that finds things half done). So the handler remembers, and what begins something
long asks first.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable
from types import FrameType

from reflact.core.errors import Stopped
from reflact.core.names import StopCause

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end."""


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
        if before in (signal.SIG_DFL, signal.default_int_handler) or isinstance(before, Interrupts):
            signal.signal(number, handler)


def interruption(handlers: Iterable[object] | None = None) -> str:
    """Return the name of a signal that has interrupted this process, `""` if none has.

    Args:
        handlers: The handlers of its signals; None is those of now.
    """
    if handlers is None:
        handlers = map(signal.getsignal, SIGNALS)
    return next((each.received for each in handlers if isinstance(each, Interrupts) and each.received), "")


def require_uninterrupted(handlers: Iterable[object] | None = None) -> None:
    """Make sure that something long does not begin after a signal whose exception got lost.

    Args:
        handlers: As for `interruption`.

    Raises:
        Stopped: There was one.
    """
    if name := interruption(handlers):
        raise Stopped(StopCause.INTERRUPTED, f"interrupted by {name}")
