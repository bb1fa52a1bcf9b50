"""Where the board of shared limits is kept: in files of the user's own, or in this process alone.

A folder holds what one endpoint, deployment and credential share: `lock`, held for the tenth of a millisecond that a
change takes; `board`, two copies of the state of which the older one is overwritten, so that a process killed in the
middle of a write spoils nothing; and a named pipe for each member. The pipe is a bell that wakes its owner, and a sign
of life: the kernel closes it with the process, and nobody can open a pipe for writing that nobody reads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from reflact.models.limit_board import HEADER_BYTES, Board, length, pack, unpack
from reflact.rundir.owner import Process, is_gone, this_process

_AREA = 1 << 20  # where the second copy begins; the space in between takes no room on disk
_USUAL = 4096
_NEW = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_BELL = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Store(Protocol):
    """Keeps a board and knows its members.

    Attributes:
        name: This member's name.
        bell: File descriptor that becomes readable when this member is rung; None if nobody could ring.
        opened: Counts how often `bell` was made anew.
    """

    name: str
    bell: int | None
    opened: int

    def enter(self) -> Board | None:
        """Begin a change; None if somebody else is at it."""
        ...

    def leave(self, board: Board | None) -> None:
        """End a change that `enter` began and keep the board; None keeps what there was."""
        ...

    def ring(self, name: str) -> None:
        """Wake a member."""
        ...

    def is_there(self, name: str) -> bool:
        """Whether a member is alive."""
        ...

    def bury(self, name: str) -> None:
        """Remove what a dead member left."""
        ...

    def close(self, remove: bool) -> None:
        """Give up membership; `remove` the files too, inside a change."""
        ...


class MemoryStore:
    """A board that nobody else sees."""

    def __init__(self) -> None:
        self.name = "this process"
        self.bell: int | None = None
        self.opened = 0
        self._board = Board()

    def enter(self) -> Board:
        """See `Store.enter`."""
        return self._board

    def leave(self, board: Board | None) -> None:
        """See `Store.leave`."""

    def ring(self, name: str) -> None:
        """See `Store.ring`."""

    def is_there(self, name: str) -> bool:
        """See `Store.is_there`."""
        return True

    def bury(self, name: str) -> None:
        """See `Store.bury`."""

    def close(self, remove: bool) -> None:
        """See `Store.close`."""


class FileStore:
    """A board in a folder.

    Args:
        folder: Made if it is missing, together with all that belongs in it.

    Raises:
        OSError: The files cannot be had.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner = this_process()
        started, space = self._owner.started, self._owner.pid_namespace
        self.name = f"{self._owner.pid}-{started if started else 0}-{space if space else 0}-{secrets.token_hex(4)}"
        self.opened = 0
        self.bell: int | None = None
        self._lock = self._file = -1
        self._generation = 0
        self._spare = 0
        self._open()

    def enter(self) -> Board | None:
        """See `Store.enter`."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if self._is_elsewhere():  # somebody tidied up, and others may already meet in a new folder
            self._close()
            self._open()
            return None
        try:
            return self._read()
        except BaseException:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            raise

    def leave(self, board: Board | None) -> None:
        """See `Store.leave`."""
        try:
            if board is not None:
                data = pack(self._generation + 1, board.to_bytes())
                if os.pwrite(self._file, data, self._spare) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)  # for a child too that was forked meanwhile

    def ring(self, name: str) -> None:
        """See `Store.ring`."""
        try:
            bell = os.open(self._folder / name, _BELL)
        except OSError as error:
            if error.errno not in (errno.ENXIO, errno.ENOENT):
                raise
            return  # its owner is gone, which is noticed elsewhere
        try:
            with suppress(BlockingIOError, BrokenPipeError):  # it has rung often enough, or is gone this moment
                os.write(bell, b".")
        finally:
            os.close(bell)

    def is_there(self, name: str) -> bool:
        """See `Store.is_there`."""
        try:
            os.close(os.open(self._folder / name, _BELL))
        except OSError as error:
            return error.errno not in (errno.ENXIO, errno.ENOENT)
        # A child that was forked and lives on keeps the pipe of its parent open.
        return is_gone(self._process(name)) is not True

    def bury(self, name: str) -> None:
        """See `Store.bury`."""
        (self._folder / name).unlink(missing_ok=True)

    def close(self, remove: bool) -> None:
        """See `Store.close`."""
        if remove:
            for path in self._folder.iterdir():
                path.unlink(missing_ok=True)
            self._folder.rmdir()
        else:
            (self._folder / self.name).unlink(missing_ok=True)
        self._close()

    def _process(self, name: str) -> Process:
        pid, started, space = (int(part) for part in name.split("-")[:3])
        return Process(pid, started if started else None, self._owner.boot_id, space if space else None, "")

    def _open(self) -> None:
        # Somebody may have removed all of them; `parents` would make those above with a wider mode.
        for folder in (self._folder.parents[1], self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=folder is not self._folder, exist_ok=True)
        self._lock = os.open(self._folder / "lock", _NEW, 0o600)
        try:
            self._file = os.open(self._folder / "board", _NEW, 0o600)
            os.mkfifo(self._folder / self.name, 0o600)
            self.bell = os.open(self._folder / self.name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except BaseException:
            self._close()
            raise
        self.opened += 1

    def _close(self) -> None:
        for handle in (self.bell, self._file, self._lock):
            if handle is not None and handle >= 0:
                os.close(handle)
        self.bell, self._file, self._lock = None, -1, -1

    def _is_elsewhere(self) -> bool:
        try:
            there = os.stat(self._folder / "lock")  # noqa: PTH116 - before every change
        except FileNotFoundError:
            return True
        return there.st_ino != os.fstat(self._lock).st_ino

    def _read(self) -> Board:
        best = (0, b"")
        self._spare = 0
        for start in (0, _AREA):
            area = os.pread(self._file, _USUAL, start)
            if _USUAL - HEADER_BYTES < length(area) < _AREA:
                area = os.pread(self._file, _AREA, start)
            found = unpack(area)
            if found is not None and found[0] > best[0]:
                best, self._spare = found, _AREA - start
        self._generation = best[0]
        return Board.from_bytes(best[1]) if best[0] else Board()
