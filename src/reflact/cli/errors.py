"""One way to end for every command: what is not a bug is one message and an exit code, a bug is a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

from reflact.core.errors import ExitCode, ReflactError, Stopped
from reflact.core.interrupts import Interrupt, ending, interrupted, interruption, listen
from reflact.rundir.told import told


def guarded(program: str, work: Callable[[], None]) -> None:
    """Run a command and turn what it raises into an exit code.

    Args:
        program: What the command is called in its messages.
        work: The command. An exception that is no `ReflactError` passes through: Python prints its traceback and
            exits with 1. A disk that takes nothing more is no bug.
    """
    listen()
    try:
        _unmasked(work)
        ending(ExitCode.DONE)
    except SystemExit as end:
        ending(end.code if isinstance(end.code, int) else int(end.code is not None))
        _let_out()
        raise
    except KeyboardInterrupt:
        fail(program, interrupted(""))
    except BrokenPipeError:
        _mute()  # whoever read our output has seen enough
        raise SystemExit(int(ExitCode.DONE)) from None
    except Exception as error:
        known = told(error)
        if known is None:
            raise
        fail(program, known)


def _unmasked(work: Callable[[], None]) -> None:
    """Do something, output included; whatever else comes up after a signal, the signal is what ended it.

    Libraries turn an interruption into errors and exit codes of their own, and clean up what was only half made. What
    is still to be printed is printed now: at its exit Python would answer a reader who has left, or a full disk, with
    a complaint and the code 120.
    """
    try:
        work()
        sys.stdout.flush()
    except (Stopped, KeyboardInterrupt):
        raise
    except SystemExit as end:
        if end.code not in (None, ExitCode.DONE, ExitCode.STOPPED) and interruption():
            raise Interrupt from end
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None  # which typer calls a failure
        if end.code in (None, ExitCode.DONE):
            sys.stdout.flush()
        raise
    except Exception as error:
        if not interruption():
            raise
        raise Interrupt from error


def fail(program: str, error: ReflactError) -> NoReturn:
    """Print the message of an error and exit with its code."""
    ending(error.exit_code)
    _let_out()
    say(program, str(error))
    raise SystemExit(int(error.exit_code)) from None


def tell(show: Callable[[], object]) -> None:
    """Print a result that is in files already: that nobody reads it, or it has no room, makes no failure of a run."""
    try:
        show()
        sys.stdout.flush()
    except OSError:
        _mute()


def _let_out() -> None:
    """Print what is still to be printed of a command that has failed; that it cannot be is no news any more."""
    tell(lambda: None)


def _mute() -> None:
    """Let the rest of stdout vanish; Python would complain again while it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(program: str, message: str) -> None:
    """Write one message to stderr."""
    sys.stderr.write(f"{program}: {message}\n")
    sys.stderr.flush()
