"""Whether a process still lives, also on another machine: there its number means nothing, so it gives signs of life.

A sign is the time of change of a file that both machines see; as with claims, the file system's own clock judges it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reflact.rundir.fsclock import file_system_now
from reflact.rundir.owner import Process, is_gone

SILENCE_S = 300.0
"""Without a sign for so long, a process on another machine is taken for dead."""

_SIGN_S = 10.0


def give_sign(path: Path) -> None:
    """Say that the owner of a file lives. A file that is gone was given up by those who would look."""
    with suppress(OSError):
        os.utime(path)


def has_died(process: Process, sign: Path) -> bool:
    """Whether a process has ended: known on its own machine, elsewhere believed after a long silence."""
    gone = is_gone(process)
    if gone is not None:
        return gone
    try:
        last = sign.stat().st_mtime
    except OSError:
        return False
    if abs(time.time() - last) < SILENCE_S / 2:
        return False  # the usual case, without asking the file system for its time
    now = file_system_now(sign.parent)
    return now is not None and now - last > SILENCE_S


@contextmanager
def giving_signs(path: Path) -> Iterator[None]:
    """Give signs of life while the block runs."""
    over = threading.Event()

    def give() -> None:
        while not over.wait(_SIGN_S):
            give_sign(path)

    thread = threading.Thread(target=give, name="reflact-signs", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
