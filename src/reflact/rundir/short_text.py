"""Reading a text that a person named, which may turn out to be anything: a device, a pipe, a video."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reflact.core.errors import ConfigError
from reflact.rundir.refusal import shown


def read_short_text(path: Path, what: str, most_bytes: int, instead: str) -> str:
    """Return the text of a regular file in UTF-8, reading no more than `most_bytes`.

    Args:
        path: The file.
        what: What it is to a person ("the skill").
        most_bytes: The longest that makes sense.
        instead: What to give instead, for the message.

    Raises:
        ConfigError: It is missing, no regular file, too long, or not UTF-8.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for whoever writes to it.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            kind = os.fstat(fd).st_mode
            if not stat.S_ISREG(kind):
                raise ConfigError(f"{what} {shown(path)!r} is {_kind(kind)}, no regular file: {instead}")
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{what} {shown(path)!r} cannot be read ({error.strerror}): {instead}") from error
    except ValueError as error:  # a NUL in the name
        raise ConfigError(f"{what} {shown(path)!r} cannot be read ({error}): {instead}") from error
    if len(data) > most_bytes:
        raise ConfigError(f"{what} {shown(path)!r} is longer than {most_bytes:,} bytes, the most there is: {instead}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what} {shown(path)!r} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"))
    return next((name for holds, name in kinds if holds(mode)), "a special file")
