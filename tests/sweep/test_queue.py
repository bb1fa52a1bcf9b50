"""The queue that launchers take jobs from."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reflact.core.names import RunState
from reflact.rundir.owner import Process, this_process
from reflact.sweep.ledger import Ledger, compile_ledger
from reflact.sweep.queue import SETTLE_S, Job, LaunchQueue, Outcome, Rules

RULES = Rules(max_parallel={"alfworld": 1}, min_free_memory_gb=0.0, max_run_s=0.0, grace_s=1.0, on_failure="continue")


def make(tmp_path: Path, *benchmarks: str, rules: Rules = RULES) -> LaunchQueue:
    jobs = [Job(n, f"run{n}", name, "train", (), str(tmp_path / f"run{n}")) for n, name in enumerate(benchmarks)]
    return LaunchQueue.create(tmp_path / ".launch" / "x", this_process(), rules, jobs)


def gone() -> Process:
    """A process that has ended."""
    code = "import json; from reflact.rundir.owner import this_process; print(json.dumps(this_process().to_json()))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    return Process.from_json(json.loads(out))


def test_a_ceiling_holds_its_benchmark_and_nobody_else(tmp_path: Path) -> None:
    queue = make(tmp_path, "alfworld", "alfworld", "docvqa")
    taken = [queue.take(this_process()) for _ in range(3)]
    assert [job.number if job else None for job, _ in taken] == [0, 2, None]
    assert taken[2][1], "one is left, and waits"
    queue.end(Outcome(0, RunState.DONE))
    job, _ = queue.take(this_process())
    assert job is not None and job.number == 1
    assert queue.take(this_process()) == (None, False)


def test_a_worker_that_died_gives_its_place_back_and_its_job_up(tmp_path: Path) -> None:
    queue = make(tmp_path, "alfworld", "alfworld")
    queue.take(gone())
    assert [job.number for job in queue.abandoned()] == [0]
    job, _ = queue.take(this_process())
    assert job is not None and job.number == 1


def test_nothing_is_taken_after_a_stop(tmp_path: Path) -> None:
    queue = make(tmp_path, "docvqa")
    queue.drain("enough")
    assert LaunchQueue(queue.folder).closed() == "enough" and queue.stopped() == ""
    queue.stop("SIGTERM")
    assert queue.take(this_process()) == (None, False) and queue.stopped() == "SIGTERM"
    assert [job.number for job in queue.untaken()] == [0]


def test_the_ledger_is_put_together_in_the_order_of_time(tmp_path: Path) -> None:
    times = iter([2.0, 1.0, 3.0])
    ledger = Ledger(tmp_path, lambda: next(times))
    for state in (RunState.RUNNING, RunState.PLANNED, RunState.DONE):
        ledger.write("a", state, benchmark="orders", out_dir="a")
    compile_ledger(tmp_path)
    first = (tmp_path / "ledger.jsonl").read_bytes()
    assert [json.loads(line)["state"] for line in first.splitlines()] == ["planned", "running", "done"]
    compile_ledger(tmp_path)
    assert (tmp_path / "ledger.jsonl").read_bytes() == first
    (file,) = (tmp_path / "ledger").iterdir()
    assert str(this_process().pid) in file.name


def test_places_that_become_free_together_do_not_count_the_same_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("reflact.sweep.queue.time.time", lambda: now[0])
    queue = make(tmp_path, "docvqa", "docvqa", "docvqa", rules=replace(RULES, min_free_memory_gb=4.0))

    def take(free: float | None, me: Process | None = None) -> int | None:
        job, left = queue.take(me or this_process(), "", lambda: free)
        assert left or job is not None, "what waits for memory is left"
        return None if job is None else job.number

    assert take(3.9) is None
    assert take(4.1) == 0
    assert take(4.1) is None, "the first has not taken its memory yet"
    elsewhere = replace(this_process(), boot_id="another machine's")
    assert take(4.1, elsewhere) == 1, "another machine has memory of its own"
    now[0] += SETTLE_S + 1
    assert take(3.9) is None
    assert take(4.1) == 2


def test_a_run_that_ended_at_once_holds_up_no_start(tmp_path: Path) -> None:
    queue = make(tmp_path, "docvqa", "docvqa", rules=replace(RULES, min_free_memory_gb=4.0))
    assert queue.take(this_process(), "", lambda: 8.0)[0] is not None
    queue.end(Outcome(0, RunState.FAILED))
    assert queue.take(this_process(), "", lambda: 8.0)[0] is not None


def test_a_sweep_is_stopped_also_where_the_disk_takes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = make(tmp_path, "docvqa")

    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("reflact.sweep.queue.write_json", full)
    queue.stop("somebody wants it")
    there = LaunchQueue(queue.folder)
    assert "takes nothing more" in there.stopped() and there.take(this_process()) == (None, False)
