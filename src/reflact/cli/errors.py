"""One way to end for every command: what is not a bug is one message and an exit code, a bug is a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from reflact.core.errors import ConfigError, ExitCode, ReflactError, Stopped, Unavailable
from reflact.core.interrupts import Interrupt, ending, interruption, listen
from reflact.core.names import StopCause
from reflact.rundir.full import disk_stop
from reflact.rundir.refusal import shown


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
        raise
    except KeyboardInterrupt:
        fail(program, Stopped(StopCause.INTERRUPTED, "interrupted"))
    except BrokenPipeError:
        _mute()  # whoever read our output has seen enough
        raise SystemExit(int(ExitCode.DONE)) from None
    except Exception as error:
        known = told(error)
        if known is None:
            raise
        fail(program, known)


def told(error: Exception) -> ReflactError | None:
    """Return what a command says of an error that is no bug; None for one that may be."""
    if isinstance(error, ReflactError):
        return error
    if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
        return None
    return disk_stop(error, "the output", resume=False) or _of_the_place(error)


def _unmasked(work: Callable[[], None]) -> None:
    """Do something; whatever else comes up after a signal, the signal is what ended it.

    Libraries turn an interruption into errors and exit codes of their own, and clean up what was only half made.
    """
    try:
        work()
    except (Stopped, KeyboardInterrupt):
        raise
    except SystemExit as end:
        if end.code in (None, ExitCode.DONE, ExitCode.STOPPED) or not interruption():
            raise
        raise Interrupt from end
    except Exception as error:
        if not interruption():
            raise
        raise Interrupt from error


_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR})
_TOO_MANY = frozenset({errno.EMFILE, errno.ENFILE})


def _of_the_place(error: OSError) -> ReflactError | None:
    """Return the message for a file that this person or machine cannot open; None for what may be a bug."""
    if error.errno in _TOO_MANY:
        return Unavailable(
            f"{shown(str(error.filename or 'a file'))}: {error.strerror}; allow more (ulimit -n) and try again"
        )
    if error.errno in _PLACE and error.filename is not None:
        return ConfigError(f"{shown(str(error.filename))}: {error.strerror}")
    return None


def fail(program: str, error: ReflactError) -> NoReturn:
    """Print the message of an error and exit with its code."""
    ending(error.exit_code)
    say(program, str(error))
    raise SystemExit(int(error.exit_code)) from None


def tell(show: Callable[[], object]) -> None:
    """Print a result that is in files already: that nobody reads it, or it has no room, makes no failure of a run."""
    try:
        show()
        sys.stdout.flush()
    except OSError:
        _mute()


def _mute() -> None:
    """Let the rest of stdout vanish; Python would complain again while it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(program: str, message: str) -> None:
    """Write one message to stderr."""
    sys.stderr.write(f"{program}: {message}\n")
    sys.stderr.flush()
