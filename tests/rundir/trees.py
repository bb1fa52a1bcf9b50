"""Everything that can be seen of a directory tree, and forged claims."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from reflact.rundir.claim import Claim

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Folder of a file system where fsync costs nothing."""


def take(root: Path, *, resume: bool = False, timeout_s: float = 300, heartbeat_s: float = 15, **more: Any) -> Claim:
    return Claim.take(root, resume=resume, timeout_s=timeout_s, heartbeat_s=heartbeat_s, **more)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def age_access_times(root: Path) -> None:
    """Make any read visible: an access time older than the modification time is always renewed."""
    for path in [root, *root.rglob("*")]:
        stat = path.lstat()
        os.utime(path, ns=(stat.st_mtime_ns - 10**9, stat.st_mtime_ns), follow_symlinks=False)


@dataclass(frozen=True)
class Seen:
    data: bytes | None
    mtime_ns: int
    ctime_ns: int
    atime_ns: int


def portrait(root: Path) -> dict[str, Seen]:
    """Bytes and all three times of a tree, taken without leaving a trace and without the code under test."""
    stat = root.lstat()
    data, below = None, {}
    if S_ISDIR(stat.st_mode):
        for name in _silently(root, os.O_DIRECTORY, os.listdir):
            below.update(portrait(root / name))
    elif S_ISREG(stat.st_mode):
        data = _silently(root, 0, lambda fd: os.pread(fd, stat.st_size, 0))
    return {str(root): Seen(data, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_atime_ns), **below}


def _silently(path: Path, flags: int, read: Callable[[int], Any]) -> Any:
    fd = os.open(path, os.O_RDONLY | os.O_NOATIME | flags)
    try:
        return read(fd)
    finally:
        os.close(fd)


def forge(root: Path, number: int = 1, *, age_s: float = 0.0, **changes: Any) -> Path:
    """Change a claim file as if another process had written it, with a heartbeat `age_s` seconds ago."""
    path = root / "claims" / f"{number:04d}.json"
    record = {**json.loads(path.read_bytes()), **changes}
    path.write_text(json.dumps(record), encoding="utf-8")
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


def abandoned(root: Path, *, age_s: float = 0.0, **changes: Any) -> Path:
    """Make a run whose owner is on another machine and wrote its last heartbeat `age_s` seconds ago."""
    claim = take(root)
    claim.release()
    (root / "claims" / "0001.released").unlink()
    (root / "events.jsonl").write_text('{"t": 1.0, "kind": "run_started"}\n', encoding="utf-8")
    forge(root, age_s=age_s, **{"boot_id": "another boot", "host": "elsewhere", **changes})
    return root
