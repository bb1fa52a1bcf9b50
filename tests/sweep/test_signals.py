"""What ends a sweep, and that nothing of it stays behind."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import line, run
from tests.sweep.commands import PATIENCE_S, SLOW, at_work, said, start, states, until

pytestmark = pytest.mark.timeout(1500)

TWO = ("ablation/lr=lr2,lr8", *SLOW)


def descendants(root: int) -> set[int]:
    """Return a process and all below it, in whatever session they are."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, pending = {root}, [root]
    while pending:
        below = parents.get(pending.pop(), [])
        found.update(below)
        pending += below
    return found


def alive(processes: set[int]) -> set[int]:
    def lives(pid: int) -> Iterator[int]:
        try:
            if Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z":
                yield pid
        except OSError:
            return

    return {pid for number in processes for pid in lives(number)}


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", "SIGKILL"])
def test_no_process_of_a_sweep_outlives_it(tmp_path: Path, launcher: str, name: str) -> None:
    root, number = tmp_path / "study", signal.Signals[name]
    began = start(tmp_path, *TWO, f"hydra/launcher={launcher}")
    until(lambda: at_work(root), "a run at work")
    family = descendants(began.pid)
    assert len(family) > 1
    began.send_signal(number)
    code = began.wait(PATIENCE_S)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 75), said(tmp_path)
    until(lambda: not alive(family), f"the end of all processes of the sweep ({launcher}, {name})")
    if number != signal.SIGKILL:
        assert {seen[-1] for seen in states(root).values()} <= {"stopped", "planned"}


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_sweep_that_ignores_a_hang_up_goes_on(tmp_path: Path, launcher: str) -> None:
    root = tmp_path / "study"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        began = start(tmp_path, "ablation/lr=lr2,lr8", "rehearsal.latency_s=0.2", f"hydra/launcher={launcher}")
    finally:
        signal.signal(signal.SIGHUP, before)
    until(lambda: at_work(root), "a run at work")
    for pid in descendants(began.pid):
        try:
            os.kill(pid, signal.SIGHUP)
        except ProcessLookupError:
            continue
    assert began.wait(PATIENCE_S) == 0, said(tmp_path)
    assert {seen[-1] for seen in states(root).values()} == {"done"}


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_what_was_not_started_is_not_composed_after_a_signal(
    tmp_path: Path, launcher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, composed = tmp_path / "study", tmp_path / "composed"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    counted = (
        "+hydra.callbacks.count._target_=tests.sweep.counting.CountJobs",
        f"+hydra.callbacks.count.path={composed}",
    )
    began = start(tmp_path, "train.seed=range(60)", *SLOW, f"hydra/launcher={launcher}", *counted)
    until(lambda: at_work(root), "a run at work")
    began.send_signal(signal.SIGTERM)
    assert began.wait(PATIENCE_S) == 75, said(tmp_path)
    # joblib keeps some more jobs ready than may run (`pre_dispatch`, two a place).
    assert 1 <= len(composed.read_text("utf-8").splitlines()) <= (1 if launcher == "basic" else 6)
    ends = [seen[-1] for seen in states(root).values()]
    assert len(ends) == 60 and ends.count("planned") >= 58
    assert f"{ends.count('planned')} were not started: the sweep got SIGTERM" in said(tmp_path)


def test_status_tells_the_command_that_goes_on_with_a_stopped_sweep(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, *TWO, "sweep.only=[LR-orders-2]")
    until(lambda: at_work(root), "a run at work")
    began.send_signal(signal.SIGTERM)
    assert began.wait(PATIENCE_S) == 75, said(tmp_path)
    told = json.loads(run(tmp_path, "reflact", "status", str(root), "--json").out)
    (command,) = {entry["resume"] for entry in told["runs"] if entry["state"] == "stopped"}
    program, *words = shlex.split(command)
    assert "sweep.only" not in command and words[-1] == "sweep.existing=resume"
    again = subprocess.run(
        [*line(program, *words), "env.workers=16", "sweep.only=[LR-orders-2]"],
        cwd=tmp_path,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert again.returncode == 0, again.stderr.decode()
    assert states(root)["LR-orders-2"][-1] == "done"
