"""Sweeps through Ray, which this machine starts for itself.

Ray wants older versions of packages than everything else here, so that it has an environment of its own beside the one
that runs the tests: `make setup-ray` makes it in `.venv-ray`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sweep.commands import SLOW, SMALL, at_work, gone, said, states, until

PYTHON = Path(__file__).parents[2] / ".venv-ray" / "bin" / "python"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for Ray, with a path short enough for its sockets; the command lines of Ray's processes name it."""
    if not PYTHON.exists():
        pytest.skip("absent: .venv-ray (make setup-ray)")
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    try:
        yield folder
    finally:
        for pid in started_in(folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder)


def started_in(place: Path) -> list[int]:
    """Return the processes that name a folder in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if os.fsencode(place) in words and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def begin(folder: Path, place: Path, *more: str) -> subprocess.Popen[bytes]:
    options = {"num_cpus": "2", "include_dashboard": "false", "_temp_dir": str(place)}
    ray = ["hydra/launcher=ray", *(f"+hydra.launcher.ray.init.{name}={value}" for name, value in options.items())]
    words = [str(PYTHON), "-m", "reflact.cli.train", "-m", *SMALL, "hydra.sweep.dir=study", *ray, *more]
    # Ray keeps a token in the home folder, and would tell its makers that it was started.
    env = {**os.environ, "HOME": str(place), "RAY_USAGE_STATS_ENABLED": "0"}
    with (folder / "said.txt").open("wb") as out:
        return subprocess.Popen(words, cwd=folder, env=env, stdout=out, stderr=out, start_new_session=True)


@pytest.mark.timeout(600)
def test_a_failed_run_harms_no_other_and_ray_ends_with_the_sweep(tmp_path: Path, place: Path) -> None:
    root = tmp_path / "study"
    began = begin(tmp_path, place, "ablation/lr=lr2,lr8,lr16", "rehearsal.latency_s=0.3", "sweep.retries=0")
    os.kill(until(lambda: at_work(root, "LR-orders-2"), "the run to kill"), signal.SIGKILL)
    assert began.wait(400) == 1, said(tmp_path)
    ends = {name: seen[-1] for name, seen in states(root).items()}
    assert ends == {"LR-orders-2": "failed", "LR-orders-8": "done", "LR-orders-16": "done"}
    until(lambda: not started_in(place), "the end of Ray")


@pytest.mark.timeout(600)
def test_a_signal_stops_what_runs_and_ends_ray(tmp_path: Path, place: Path) -> None:
    root = tmp_path / "study"
    began = begin(tmp_path, place, "ablation/lr=lr2,lr4,lr8", *SLOW)
    runs = [until(lambda name=name: at_work(root, name), name) for name in ("LR-orders-2", "LR-orders-4")]
    began.send_signal(signal.SIGTERM)
    assert began.wait(200) == 75, said(tmp_path)
    assert all(gone(run) for run in runs)
    ends = {name: seen[-1] for name, seen in states(root).items()}
    assert ends == {"LR-orders-2": "stopped", "LR-orders-4": "stopped", "LR-orders-8": "planned"}
    until(lambda: not started_in(place), "the end of Ray")


def test_what_the_extra_asks_for_agrees_with_itself() -> None:
    if not PYTHON.exists():
        pytest.skip("absent: .venv-ray (make setup-ray)")
    checked = subprocess.run([str(PYTHON), "-m", "pip", "check"], capture_output=True, timeout=120)
    assert checked.returncode == 0, checked.stdout.decode()
