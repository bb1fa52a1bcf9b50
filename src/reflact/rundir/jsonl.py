"""Append-only files of JSON objects, one a line: written by one process, readable at any moment.

A line counts once its newline is there. What follows the last newline, and a last line that is no JSON object, is
what a kill or a power failure left of an append: writers remove it, readers pass over it.
"""

from __future__ import annotations

import json
import os
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path

from reflact.core.errors import DataError
from reflact.core.types import Json
from reflact.rundir.atomic import named, sync_folder, write_all
from reflact.rundir.encoding import json_bytes
from reflact.rundir.quiet import open_quiet
from reflact.rundir.syncer import Syncer

__all__ = ["JsonlWriter", "Syncer", "damaged", "last_line_end", "parse_line", "read_at", "read_jsonl"]

_BLOCK = 1 << 16


class JsonlWriter:
    """Appends objects to a file; safe to use from several threads of the owning process."""

    def __init__(self, path: Path, syncer: Syncer) -> None:
        """Open the file for appending, make it if it is missing, and remove a torn last line.

        Raises:
            OSError: The file could not be opened; it names `path`.
        """
        self._path = path
        self._syncer = syncer
        self._appending = threading.Lock()
        self._syncing = threading.Lock()  # apart from appends: an fsync may take long, an append must not wait for it
        self._broken = False
        self._fd = _open(path)
        size = os.fstat(self._fd).st_size
        end = last_line_end(self._fd, size)
        if end < size:
            os.ftruncate(self._fd, end)

    def append(self, obj: dict[str, Json]) -> int:
        """Write one object as one line and return the line's offset in bytes.

        The line is in the system's hands when this returns: a kill -9 of this process does not lose it.

        Raises:
            OSError: The line could not be written (it names the file); no part of it stays in the file.
        """
        data = json_bytes(obj)
        with self._appending:
            if self._broken:
                raise OSError(None, "an earlier append failed and could not be undone", str(self._path))
            offset = self._write(data)
        self._syncer.note(self)
        return offset

    def sync(self) -> None:
        """Call fsync; does nothing after `close`."""
        with self._syncing:
            if self._fd >= 0:
                try:
                    os.fsync(self._fd)
                except OSError as error:
                    raise named(error, self._path) from error

    def close(self) -> None:
        """Sync and close the file; a second call does nothing."""
        self.sync()
        with self._syncing, self._appending:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)

    def _write(self, data: bytes) -> int:
        if self._fd < 0:
            raise ValueError(f"{self._path} is closed")
        start = os.lseek(self._fd, 0, os.SEEK_END)
        try:
            written = os.write(self._fd, data)
            if written < len(data):
                write_all(self._fd, data[written:])
        except BaseException as error:
            self._undo(start)
            if isinstance(error, OSError):
                raise named(error, self._path) from error
            raise
        return start

    def _undo(self, start: int) -> None:
        self._broken = True
        os.ftruncate(self._fd, start)
        self._broken = False


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield (offset in bytes, object) of every line; a missing file has none.

    Raises:
        DataError: A line that is not the last one is no JSON object; file and line are named.
    """
    try:
        file = open_quiet(path)
    except FileNotFoundError:
        return
    with file:
        offset, bad = 0, 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            if bad:
                raise damaged(path, bad)
            obj = parse_line(line)
            if obj is None:
                bad = number
            else:
                yield offset, obj
            offset += len(line)


def damaged(path: Path, line: int, what: str = "not a JSON object") -> DataError:
    """Return the error for a line that is no JSON object or not what it should be; the other lines are good."""
    return DataError(
        f"{path}, line {line}: {what}; something other than this program changed the file. Take the line "
        f"out (sed -i {line}d {shlex.quote(str(path))}) or put a good copy of the file back. A run that is resumed "
        "then makes again what it still needs of it."
    )


def read_at(path: Path, offset: int) -> dict[str, Json]:
    """Return the object of the line that begins at `offset`.

    Raises:
        DataError: There is no such line; file and offset are named.
    """
    with path.open("rb") as file:
        file.seek(offset)
        line = file.readline()
    obj = parse_line(line) if line.endswith(b"\n") else None
    if obj is None:
        raise DataError(f"{path}, byte {offset}: no line with a JSON object begins here")
    return obj


def parse_line(line: bytes) -> dict[str, Json] | None:
    """Return a line's object, None if it holds none; NaN and infinities are no JSON, and we never write them."""
    try:
        obj = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return obj if isinstance(obj, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def last_line_end(fd: int, size: int) -> int:
    """Return where the last line ends that counts: after its newline, or 0."""
    end = _after_newline(fd, size)
    if end == 0:
        return 0
    start = _after_newline(fd, end - 1)
    return end if parse_line(os.pread(fd, end - start, start)) is not None else start


def _after_newline(fd: int, size: int) -> int:
    """Return the offset behind the last newline in the first `size` bytes, 0 if there is none."""
    while size > 0:
        start = max(0, size - _BLOCK)
        found = os.pread(fd, size - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        size = start
    return 0


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        fd = os.open(path, flags, 0o666)
        if is_new:
            sync_folder(path.parent)
    except OSError as error:
        raise named(error, path) from error
    return fd
