"""What time it is according to a file system.

A heartbeat is a file's modification time, which on a shared file system another machine's clock made. It is compared
with the time that the same file system gives a file that is made now, so that the machines' clocks need not agree.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from reflact.rundir.atomic import TEMPORARY_PREFIX


def file_system_now(folder: Path, *, inside: bool = False) -> float | None:
    """Return the time (unix seconds) that the file system of `folder` gives to a file made now.

    Nothing in `folder` changes, unless `inside` allows it. The ways, in this order:

    1. a file without a name in `folder` (`O_TMPFILE`): it enters no folder, so no timestamp changes;
    2. where that is not offered (NFS): a file beside `folder`, if that is the same file system, removed at once;
    3. only with `inside`: a file in `folder`, removed at once.

    Returns:
        None if no way is open (another user's folder, a file system that is read-only or mounted right here).
    """
    now = _unnamed(folder)
    if now is None and _same_device(folder, folder.parent):
        now = _named(folder.parent)
    if now is None and inside:
        now = _named(folder)
    return now


def _unnamed(folder: Path) -> float | None:
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag:
        return None
    try:
        fd = os.open(folder, flag | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        return os.fstat(fd).st_mtime
    finally:
        os.close(fd)


def _named(folder: Path) -> float | None:
    probe = folder / (TEMPORARY_PREFIX + secrets.token_hex(8))
    try:
        fd = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        return os.fstat(fd).st_mtime
    finally:
        os.close(fd)
        probe.unlink(missing_ok=True)


def _same_device(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_dev == other.stat().st_dev
    except OSError:
        return False
