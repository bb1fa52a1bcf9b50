"""Sweeps in a real Slurm of one node: what becomes of its jobs is what the ledger says, and nothing is waited for
that will not come."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflact.sweep.slurm import SlurmGone, SlurmJobs, run_command
from tests.cli.commands import line
from tests.sweep.commands import at_work, gone, said, start, states, sweep, until
from tests.sweep.slurm_node import SlurmNode, missing

SLURM = (
    *("hydra/launcher=submitit_slurm", "hydra.launcher.partition=debug", "hydra.launcher.timeout_min=30"),
    *("hydra.launcher.mem_gb=1", "hydra.launcher.cpus_per_task=1"),
)
SLOW = ("rehearsal.latency_s=1", "env.workers=1")


def running() -> Iterator[SlurmNode]:
    node = SlurmNode(Path(tempfile.mkdtemp(prefix="reflact-", dir="/tmp")))
    try:
        node.start()
        yield node
    finally:
        node.stop()


@pytest.fixture(scope="module")
def node() -> Iterator[SlurmNode]:
    pytest.importorskip("submitit", reason="absent: submitit (the extra `slurm`)")
    if lacking := missing():
        pytest.skip(f"absent: {lacking}")
    yield from running()


@pytest.fixture
def lost_node() -> Iterator[SlurmNode]:
    """A Slurm of one test's own, since it will not come back."""
    pytest.importorskip("submitit", reason="absent: submitit (the extra `slurm`)")
    if lacking := missing():
        pytest.skip(f"absent: {lacking}")
    yield from running()


@pytest.fixture(autouse=True)
def _commands_find_it(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "node" in request.fixturenames:
        for name, value in request.getfixturevalue("node").env.items():
            monkeypatch.setenv(name, value)


def last(root: Path, run_id: str) -> dict[str, Any]:
    """Return the last line of a run in the compiled ledger."""
    lines = map(json.loads, (root / "ledger.jsonl").read_text(encoding="utf-8").splitlines())
    return [entry for entry in lines if entry["run_id"] == run_id][-1]


def job_of(root: Path, run_id: str) -> str:
    """Return the number of the job in which a run works now."""
    for path in (root / "ledger").glob("*.jsonl"):
        for text in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(text)
            if entry["run_id"] == run_id and entry["state"] == "running":
                return str(entry["job"])
    raise AssertionError(f"{run_id} does not run")


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


def seen_from_elsewhere(root: Path) -> dict[str, str]:
    """Return what `reflact status` says where process numbers mean nothing, as on another host."""
    words = ["unshare", "--fork", "--pid", "--mount-proc", *line("reflact", "status", str(root), "--json")]
    done = subprocess.run(words, capture_output=True, check=True, timeout=120)
    return {run["id"]: run["state"] for run in json.loads(done.stdout)["runs"]}


@pytest.mark.timeout(900)
def test_what_becomes_of_a_job_is_in_the_ledger_and_harms_no_other(node: SlurmNode, tmp_path: Path) -> None:
    root = tmp_path / "study"
    killed, lost, cancelled, late = (f"LR-orders-{n}" for n in (1, 2, 4, 8))
    grid = ("ablation/lr=lr1,lr2,lr4,lr8,lr16", "sweep.retries=0", *SLOW)
    began = start(tmp_path, *grid, *SLURM, "hydra.launcher.array_parallelism=4")
    pids = {name: until(lambda name=name: at_work(root, name), name) for name in (killed, lost, cancelled, late)}
    jobs = {name: job_of(root, name) for name in pids}
    elsewhere = seen_from_elsewhere(root)
    assert {elsewhere[name] for name in pids} <= {"running", "waiting"}

    waiting = [job for job, state in node.queued().items() if state == "PENDING"]
    assert len(waiting) == 1
    node.run("scancel", *waiting)
    os.kill(pids[killed], signal.SIGKILL)
    os.kill(parent(pids[lost]), signal.SIGKILL)  # the job's own process, as the memory killer of a node would
    node.run("scancel", jobs[cancelled])
    node.run("scancel", "--signal=USR2", jobs[late])  # what Slurm sends before the time of a job is over

    assert began.wait(300) == 1, said(tmp_path)
    assert node.queued() == {} and all(gone(pid) for pid in pids.values())
    ends = {name: (entry["state"], entry["cause"]) for name in pids for entry in [last(root, name)]}
    assert ends == {
        killed: ("failed", "SIGKILL"),
        lost: ("failed", "worker"),
        cancelled: ("stopped", "interrupted"),
        late: ("stopped", "interrupted"),
    }
    assert states(root)["LR-orders-16"] == ["planned"]
    assert last(root, lost)["message"] == f"Slurm says FAILED of its job {jobs[lost]}"
    assert "the time of its job is nearly over" in last(root, late)["message"]
    assert node.state(jobs[killed]) == "FAILED", "Slurm's own books do not call a failed run completed"

    again = start(tmp_path, *grid, "env.workers=16", *SLURM, "sweep.existing=resume", f"sweep.only=[{late}]")
    assert again.wait(300) == 0, said(tmp_path)
    assert states(root)[late][-1] == "done"


@pytest.mark.timeout(600)
def test_a_signal_takes_back_what_waits_in_slurm(node: SlurmNode, tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, "ablation/lr=lr2,lr8", *SLOW, *SLURM, "hydra.launcher.array_parallelism=1")
    pid = until(lambda: at_work(root, "LR-orders-2"), "a run at work")
    began.send_signal(signal.SIGTERM)
    assert began.wait(120) == 75, said(tmp_path)
    assert node.queued() == {} and gone(pid)
    assert not (root / ".launch").exists()
    assert {name: seen[-1] for name, seen in states(root).items()} == {
        "LR-orders-2": "stopped",
        "LR-orders-8": "planned",
    }


def test_what_slurm_refuses_is_said_in_its_words(node: SlurmNode, tmp_path: Path) -> None:
    result = sweep(tmp_path, "ablation/lr=lr2,lr8", *SLURM, "hydra.launcher.partition=nowhere")
    assert result.code == 2 and "Invalid partition name" in result.err and "Traceback" not in result.err


def test_a_job_that_slurm_does_not_list_has_ended_and_silence_says_nothing() -> None:
    listed = "7_0 RUNNING\n8 PENDING\n"
    asked: list[list[str]] = []
    times = iter(range(0, 100_000, 100))
    closed: list[str] = []

    def run(words: Sequence[str], stopped: Callable[[], object]) -> str:
        asked.append(list(words))
        if not listed:
            raise OSError("no answer")
        return listed if words[0] == "squeue" else ""

    jobs = SlurmJobs(lambda: closed, lambda: False, run, lambda: float(next(times)))
    assert not jobs.submitted and jobs.all_ended()
    jobs.register_job("7_0")
    jobs.register_job("8")
    assert jobs.submitted and not jobs.is_done("7_0") and jobs.get_state("8") == "PENDING"
    listed = "8 PENDING\n"
    assert jobs.is_done("7_0") and not jobs.is_done("8")
    listed = ""
    assert not jobs.is_done("8"), "Slurm gave no answer"
    closed.append("the sweep got SIGTERM")
    listed = "8 CANCELLED\n"
    assert jobs.all_ended()
    assert [words for words in asked if words[0] == "scancel"] == [
        ["scancel", "--quiet", "--state=PENDING", "7_0", "8"]
    ]


def test_a_job_that_begins_as_it_is_taken_back_is_waited_for_and_the_others_are_taken_back_again() -> None:
    listed = iter(
        ["7_0 RUNNING\n7_1 RUNNING\n8 PENDING\n", "7_0 COMPLETED\n7_1 RUNNING\n8 CANCELLED\n", "8 CANCELLED\n"]
    )
    taken_back: list[int] = []

    def run(words: Sequence[str], stopped: Callable[[], object]) -> str:
        if words[0] == "scancel":
            taken_back.append(1)
            if len(taken_back) == 1:
                raise subprocess.CalledProcessError(1, list(words), b"", b"")
            return ""
        return next(listed)

    times = iter(range(0, 100_000, 100))
    jobs = SlurmJobs(lambda: "told", lambda: "told", run, lambda: float(next(times)))
    for number in ("7_0", "7_1", "8"):
        jobs.register_job(number)
    assert not jobs.all_ended() and not jobs.silent
    assert len(taken_back) == 2
    assert not jobs.all_ended() and jobs.left() == ["7_1"]
    assert jobs.all_ended() and len(taken_back) == 2


def test_who_is_told_to_stop_does_not_wait_for_an_answer_that_does_not_come() -> None:
    stopped: list[str] = []

    def run(words: Sequence[str], told: Callable[[], object]) -> str:
        raise OSError("no answer")

    times = iter(range(0, 100_000, 100))
    jobs = SlurmJobs(lambda: stopped, lambda: stopped, run, lambda: float(next(times)))
    jobs.register_job("7_0")
    assert not jobs.is_done("7_0") and not jobs.all_ended() and jobs.silent, "it may come back"
    stopped.append("the sweep got SIGTERM")
    with pytest.raises(SlurmGone):
        jobs.is_done("7_0")
    assert jobs.left() == ["7_0"]


def test_a_command_that_hangs_is_given_up_soon_after_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reflact.sweep.slurm._LAST_DEADLINE_S", 0.2)
    asked: list[int] = []

    def stopped() -> bool:
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(subprocess.TimeoutExpired):
        run_command(["sleep", "1000"], stopped)
    with pytest.raises(subprocess.CalledProcessError):
        run_command(["false"], lambda: False)
    assert run_command(["echo", "7 RUNNING"], lambda: False) == "7 RUNNING\n"


@pytest.mark.timeout(600)
def test_a_signal_ends_a_sweep_whose_slurm_is_gone(
    lost_node: SlurmNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in lost_node.env.items():
        monkeypatch.setenv(name, value)
    root = tmp_path / "study"
    began = start(tmp_path, "ablation/lr=lr2,lr8", *SLOW, *SLURM, "hydra.launcher.array_parallelism=1")
    pid = until(lambda: at_work(root, "LR-orders-2"), "a run at work")
    (waiting,) = (job for job, state in lost_node.queued().items() if state == "PENDING")
    lost_node.lose_controller()
    until(lambda: "Slurm does not say what became of its jobs" in said(tmp_path), "the word that Slurm is silent")
    assert began.poll() is None, "it may come back"
    began.send_signal(signal.SIGTERM)
    assert began.wait(120) == 75, said(tmp_path)
    assert gone(pid)
    assert {name: seen[-1] for name, seen in states(root).items()} == {
        "LR-orders-2": "stopped",
        "LR-orders-8": "planned",
    }
    assert "1 of its jobs may still be there" in said(tmp_path) and f"scancel {waiting}" in said(tmp_path)
