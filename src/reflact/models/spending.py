"""What all runs of a sweep have spent together: one small file in the sweep's root that every run adds to."""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path

NAME = "spending"
_FORM = struct.Struct("<qd")


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and US dollars."""

    tokens: int = 0
    usd: float = 0.0


class SharedSpending:
    """Adds up over processes; what is added stays when the process that added it is killed.

    Args:
        root: The sweep's root.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / NAME

    def add(self, tokens: int, usd: float) -> None:
        """Add what a call has cost.

        Raises:
            OSError: The file cannot be written.
        """
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            before = _parse(os.pread(fd, _FORM.size, 0))
            os.pwrite(fd, _FORM.pack(before.tokens + tokens, before.usd + usd), 0)
        finally:
            os.close(fd)

    def total(self) -> Spent:
        """Return what was spent so far."""
        try:
            return _parse(self._path.read_bytes())
        except FileNotFoundError:
            return Spent()


def _parse(data: bytes) -> Spent:
    return Spent(*_FORM.unpack(data)) if len(data) == _FORM.size else Spent()
