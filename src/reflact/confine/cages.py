"""Counting processes where the kernel's own limit does not: jobs that root starts.

The limit on processes of a user never holds for root, also not inside a user namespace. A control group of the
controller `pids` does, where root may make one.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from reflact.confine.rlimits import SHELL

_LOG = logging.getLogger(__name__)
_GROUPS = Path("/sys/fs/cgroup")
_MEMBERS = "cgroup.procs"
_ROUNDS = 40
_PAUSE_S = 0.005


def cage_root(groups: Path = _GROUPS, memberships: Path = Path("/proc/self/cgroup")) -> Path | None:
    """Return the group under which root may make groups that count processes; None if there is none or no need."""
    if os.geteuid() != 0:
        return None
    try:
        lines = memberships.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        own = path.lstrip("/")
        if "pids" in controllers.split(",") and _usable(groups / "pids" / own):
            return groups / "pids" / own
        if not controllers and _counts(groups / own) and _usable(groups / own):
            return groups / own
    return None


@contextmanager
def caged(root: Path | None, processes: int, argv: list[str]) -> Iterator[list[str]]:
    """Yield a command that is `argv` with at most that many processes; without a root it is `argv` itself."""
    if root is None:
        yield argv
        return
    group = root / f"reflact-{os.getpid()}-{uuid4().hex[:12]}"
    group.mkdir()
    try:
        (group / "pids.max").write_text(str(processes), encoding="ascii")
        yield [SHELL, "-c", 'echo $$ > "$0" && exec "$@"', str(group / _MEMBERS), *argv]
    finally:
        _remove(group)


def _counts(group: Path) -> bool:
    """Whether a group of the unified hierarchy hands the controller on to groups below it."""
    try:
        return "pids" in (group / "cgroup.subtree_control").read_text(encoding="ascii").split()
    except OSError:
        return False


def _usable(group: Path) -> bool:
    try:
        with caged(group, 1, []):
            return True
    except OSError:
        return False


def _remove(group: Path) -> None:
    for _ in range(_ROUNDS):
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_PAUSE_S)  # its last process has ended but is not yet forgotten
    _LOG.warning("the control group %s cannot be removed", group)
