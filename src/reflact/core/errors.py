"""Errors that a command turns into one message and one exit code.

The exit codes are part of the interface (`docs/run-directory.md`); this module is their only owner.
"""

from __future__ import annotations

from enum import IntEnum

from reflact.core.names import StopCause


class ExitCode(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    BUG = 1
    USAGE = 2
    UNAVAILABLE = 69
    REFUSED = 73
    STOPPED = 75


class ReflactError(Exception):
    """Base of every error that is not a bug: it has an exit code and no traceback is shown."""

    exit_code: ExitCode = ExitCode.USAGE


class ConfigError(ReflactError):
    """A configuration or data problem that the user can mend (exit code 2)."""


class DataError(ConfigError):
    """A data file is missing, malformed or contradictory; the message names file, line or id."""


class Unavailable(ReflactError):
    """A service or credential that the run needs is not there (exit code 69)."""

    exit_code = ExitCode.UNAVAILABLE


class Refused(ReflactError):
    """A directory was refused; nothing in it was changed (exit code 73)."""

    exit_code = ExitCode.REFUSED


class Stopped(ReflactError):
    """The run stopped in a state from which it can be resumed (exit code 75)."""

    exit_code = ExitCode.STOPPED

    def __init__(self, cause: StopCause, message: str) -> None:
        super().__init__(message)
        self.cause = cause

    def __reduce__(self) -> tuple[type[Stopped], tuple[StopCause, str]]:
        """Let launchers hand it from one process to another; an exception is made anew from `args` otherwise."""
        return type(self), (self.cause, str(self))
