"""Everything that can be seen of a directory tree, and forged claims."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from reflact.rundir.claim import Claim
from reflact.rundir.quiet import read_quiet

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


def portrait(root: Path) -> dict[str, tuple[object, ...]]:
    """Bytes and all three times, in ns, of a directory, its parent and all that is in it."""
    seen: dict[str, tuple[object, ...]] = {}
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(folder, name)
            data = read_quiet(path) if path.is_file() and not path.is_symlink() else None
            seen[str(path)] = (data, *_times(path))
    # After the walk, which reads the folders themselves; only what changes a folder is compared.
    for path in (root, *(Path(name) for name in list(seen) if Path(name).is_dir())):
        seen[str(path)] = _times(path)[:2]
    return seen


def _times(path: Path) -> tuple[int, int, int]:
    stat = path.lstat()
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_atime_ns


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
