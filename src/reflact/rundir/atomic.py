"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from reflact.core.types import Json
from reflact.rundir.encoding import json_bytes, text_bytes

TEMPORARY_PREFIX = ".reflact-tmp-"
"""How the names of temporary files begin; the name says nothing else, so that it is never too long."""


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file: temporary file in the same folder, fsync, rename, fsync of the folder.

    Whatever happens in between (a kill, a full disk), `path` holds either its old content or all of the new one.
    Missing parent folders are made.

    Raises:
        OSError: The file could not be written; it names `path` and the old file is as it was.
    """
    temporary = path.with_name(TEMPORARY_PREFIX + secrets.token_hex(8))
    try:
        _write_synced(temporary, data)
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):  # such as a folder that is none; the first error is what counts
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise named(error, path) from error
        raise


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text in UTF-8; see `write_bytes` and `text_bytes`."""
    write_bytes(path, text_bytes(text))


def write_json(path: Path, value: Json, indent: int | None = 2) -> None:
    """Replace a file by a value's JSON; see `write_bytes` and `json_bytes`."""
    write_bytes(path, json_bytes(value, indent))


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes, however many calls the system needs."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def sync_folder(folder: Path) -> None:
    """Make a new or renamed entry of a folder last through a power failure."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def named(error: OSError, path: Path) -> OSError:
    """Return the same error with the path that a person knows."""
    return OSError(error.errno, error.strerror or str(error), str(path))


def sweep_temporary(root: Path) -> int:
    """Remove temporary files that a killed owner left below `root`; the caller owns the directory.

    Returns:
        How many were removed. Links are not followed.
    """
    removed = 0
    for path in _temporary_files(root):
        path.unlink(missing_ok=True)
        removed += 1
    return removed


def _temporary_files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(TEMPORARY_PREFIX):
                yield Path(folder, name)


def _write_synced(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, flags, 0o666)
    try:
        write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
