from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reflact.confine.cages import cage_root, caged

FORKS = """
import os, time
n = 0
try:
    while n < 50:
        if not os.fork():
            time.sleep(30)
        n += 1
except OSError:
    pass
print(n, flush=True)
os.kill(0, 9)
"""


def test_without_a_root_nothing_changes() -> None:
    with caged(None, 5, ["a", "b"]) as argv:
        assert argv == ["a", "b"]


def test_a_machine_without_groups(tmp_path: Path) -> None:
    memberships = tmp_path / "cgroup"
    assert cage_root(tmp_path, memberships) is None
    memberships.write_text("4:memory:/x\n0::/\n")
    assert cage_root(tmp_path, memberships) is None


@pytest.mark.parametrize(("line", "place"), [("8:pids:/own", "pids/own"), ("0::/own", "own")])
def test_both_kinds_of_hierarchy(line: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    group = tmp_path / place
    group.mkdir(parents=True)
    memberships = tmp_path / "memberships"
    memberships.write_text(f"{line}\n")
    (group / "cgroup.subtree_control").write_text("cpu pids\n")
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)  # files of a real group vanish with it
    assert cage_root(tmp_path, memberships) == group
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cage_root(tmp_path, memberships) is None


def test_the_kernel_counts() -> None:
    root = cage_root()
    if root is None:
        pytest.skip("absent: control groups that this user may make")
    with caged(root, 6, [sys.executable, "-c", FORKS]) as argv:
        done = subprocess.run(argv, capture_output=True, start_new_session=True, check=False, timeout=60)
    assert done.stdout == b"5\n"
    assert not [entry for entry in root.iterdir() if entry.name.startswith(f"reflact-{os.getpid()}-")]
