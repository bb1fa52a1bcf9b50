"""What is said of errors that are no bug: ours, a disk that takes nothing more, a file that cannot be opened here."""

from __future__ import annotations

import errno

from reflact.core.errors import ConfigError, ReflactError, Unavailable
from reflact.rundir.full import TOO_MANY, disk_stop
from reflact.rundir.refusal import shown

_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR})


def told(error: BaseException, what: str = "the output", *, resume: bool = False) -> ReflactError | None:
    """Return what a command says of an error that is no bug; None for one that may be.

    Args:
        error: What was raised.
        what: What was being written, where the error does not name a file.
        resume: Whether there is a run to go on with.
    """
    if isinstance(error, ReflactError):
        return error
    if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
        return None
    return disk_stop(error, what, resume=resume) or _of_the_place(error)


def _of_the_place(error: OSError) -> ReflactError | None:
    """Return the message for a file that this person or machine cannot open; None for what may be a bug."""
    if error.errno in TOO_MANY:
        return Unavailable(
            f"{shown(str(error.filename or 'a file'))}: {error.strerror}; allow more (ulimit -n) and try again"
        )
    if error.errno in _PLACE and error.filename is not None:
        return ConfigError(f"{shown(str(error.filename))}: {error.strerror}")
    return None
