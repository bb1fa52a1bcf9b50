"""A disk that takes nothing more and too many open files are no bug and no wrong configuration: the run stops."""

from __future__ import annotations

import errno

from reflact.core.errors import Stopped
from reflact.core.names import StopCause

_TAKES_NOTHING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
TOO_MANY = frozenset({errno.EMFILE, errno.ENFILE})
"""More files are open than this process, or the machine, may have."""


def disk_stop(error: OSError, what: str = "the run directory", *, resume: bool = True) -> Stopped | None:
    """Return the stop for a disk that takes nothing more or too many open files; None for any other error.

    Args:
        error: What the system said.
        what: What could not be written, where the error does not name a file.
        resume: Whether there is a run to go on with; otherwise the same command is what does it again.
    """
    if resume and error.errno in TOO_MANY:
        return Stopped(
            StopCause.ERRORS,
            f"{error.filename or what} cannot be opened: {error.strerror}. What was written before is whole; "
            "allow more (ulimit -n) or let fewer items run at once (env.workers), then go on with run.resume=true",
        )
    if error.errno not in _TAKES_NOTHING:
        return None
    way = "go on with run.resume=true" if resume else "give the same command again"
    return Stopped(
        StopCause.ERRORS,
        f"{error.filename or what} cannot be written: {error.strerror}. What was written before is whole; "
        f"make room, then {way}",
    )
