"""Sweeps through submitit on this machine: the same engine as in a cluster, without one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.sweep.commands import SLOW, at_work, gone, said, start, states, until

LOCAL = "hydra/launcher=submitit_local"
TWO = ("ablation/lr=lr2,lr8", LOCAL)


@pytest.fixture(autouse=True)
def _submitit() -> None:
    pytest.importorskip("submitit", reason="absent: submitit (the extra `slurm`)")


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


@pytest.mark.timeout(600)
def test_a_failed_run_is_failed_and_the_others_go_on(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, "ablation/lr=lr2,lr4,lr8", LOCAL, "rehearsal.latency_s=0.3", "sweep.retries=0")
    run = until(lambda: at_work(root, "LR-orders-2"), "the run to kill")
    os.kill(run, signal.SIGKILL)
    assert began.wait(300) == 1, said(tmp_path)
    ends = {name: seen[-1] for name, seen in states(root).items()}
    assert ends == {"LR-orders-2": "failed", "LR-orders-4": "done", "LR-orders-8": "done"}
    assert "LR-orders-2: failed (SIGKILL)" in said(tmp_path)


@pytest.mark.timeout(600)
def test_a_run_whose_worker_is_killed_is_resumed_after_the_others(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, *TWO, "rehearsal.latency_s=0.3")
    run = until(lambda: at_work(root, "LR-orders-2"), "the run whose worker is killed")
    os.kill(parent(run), signal.SIGKILL)
    assert began.wait(300) == 0, said(tmp_path)
    seen = states(root)
    assert seen["LR-orders-2"][-1] == "done" and "failed" in seen["LR-orders-2"]
    assert seen["LR-orders-8"][-1] == "done" and "failed" not in seen["LR-orders-8"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("whom", ["the sweep", "its process group", "the sweep, at once"])
def test_what_ends_a_sweep_ends_its_jobs(tmp_path: Path, whom: str) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, *TWO, *SLOW)
    runs = [until(lambda name=name: at_work(root, name), name) for name in ("LR-orders-2", "LR-orders-8")]
    workers = [parent(run) for run in runs]
    controllers = [parent(worker) for worker in workers]
    if whom == "its process group":  # Ctrl-C in a terminal reaches everything that submitit has started
        os.killpg(began.pid, signal.SIGINT)
    else:
        began.send_signal(signal.SIGKILL if "at once" in whom else signal.SIGTERM)
    code = began.wait(120)
    assert code == (-signal.SIGKILL if "at once" in whom else 75), said(tmp_path)
    until(lambda: all(gone(pid) for pid in (*runs, *workers, *controllers)), "the end of all that was started")
    if "at once" not in whom:
        assert {seen[-1] for seen in states(root).values()} == {"stopped"}, said(tmp_path)
