"""Reading that leaves no trace.

A refused directory must not change by one timestamp, and reading a file or listing a folder sets its access time.
`O_NOATIME` prevents that; the system grants it to the file's owner only, and for other people's files nothing better
than an ordinary read exists.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def open_quiet(path: Path) -> BinaryIO:
    """Open a file for reading without setting its access time where the system allows that."""
    fd = _open(path, os.O_RDONLY)
    try:
        return os.fdopen(fd, "rb")
    except IsADirectoryError as error:  # which names the number
        os.close(fd)
        raise IsADirectoryError(error.errno, error.strerror, str(path)) from None


def read_quiet(path: Path) -> bytes:
    """Return a file's bytes; see `open_quiet`."""
    with open_quiet(path) as file:
        return file.read()


def names_quiet(folder: Path) -> list[str]:
    """Return the sorted names in a folder without setting its access time where the system allows that."""
    fd = _open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return sorted(os.listdir(fd))  # noqa: PTH208 - of an open folder, not of a path
    finally:
        os.close(fd)


def _open(path: Path, flags: int) -> int:
    flags |= os.O_CLOEXEC
    noatime = getattr(os, "O_NOATIME", 0)
    try:
        return os.open(path, flags | noatime)
    except PermissionError:
        return os.open(path, flags)
