"""A sweep whose disk takes nothing more ends as one that can go on; it never waits for what nobody can record."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reflact.core.errors import ExitCode, Stopped
from reflact.core.names import RunState
from reflact.rundir.owner import this_process
from reflact.sweep.launch import Launch
from reflact.sweep.ledger import Ledger
from reflact.sweep.queue import Job, LaunchQueue, Rules
from reflact.sweep.task import LaunchTask
from reflact.sweep.watch import Told, Watch
from tests.cli.commands import line

RULES = Rules(max_parallel={}, min_free_memory_gb=0.0, max_run_s=0.0, grace_s=1.0, on_failure="continue")
FULL = OSError(errno.ENOSPC, "No space left on device", "study/.launch/x/0000.ended.json")


@dataclass
class Result:
    """What Hydra keeps of a job that raised."""

    error: Exception

    @property
    def return_value(self) -> float:
        raise self.error


@dataclass
class Worker:
    """A launcher whose one worker lives on, but could not record how its job ended."""

    task: LaunchTask
    error: Exception
    given: list[Any] = field(default_factory=list)

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[Any]:
        self.given.append(LaunchQueue(Path(self.task.queue)).take(this_process()))
        return [Result(self.error)]


def launch(root: Path, error: Exception) -> list[Any]:
    task = LaunchTask()
    job = Job(0, "run0", "orders", "train", (), str(root / "run0"))
    return Launch(root, Worker(task, error), task, RULES, 0, lambda job: (), None).run([job])


@pytest.mark.timeout(300)
def test_a_sweep_whose_disk_is_full_ends_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match=r"0000\.ended\.json cannot be written: No space left") as stopped:
        launch(tmp_path, FULL)
    assert stopped.value.exit_code is ExitCode.STOPPED
    assert not (tmp_path / ".launch").exists(), "workers elsewhere see that the sweep is over"


@pytest.mark.timeout(300)
def test_a_job_whose_end_was_never_recorded_is_not_waited_for(tmp_path: Path) -> None:
    [(_, outcome)] = launch(tmp_path, RuntimeError("a bug in the worker"))
    assert outcome.state is RunState.FAILED and "killed" in outcome.message


class Child:
    """A run's process."""

    pid = 1

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def kill(self) -> None:
        self.calls.append("kill")

    def finish(self) -> int:
        self.calls.append("finish")
        return -9


def test_a_run_does_not_go_on_unwatched_where_its_start_cannot_be_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def note(*args: Any, **kwargs: Any) -> None:
        raise FULL

    monkeypatch.setattr("reflact.sweep.watch.Child", lambda *_: Child(calls))
    monkeypatch.setattr(Ledger, "write", note)
    job = Job(0, "run0", "orders", "train", (), str(tmp_path / "run0"))
    queue = LaunchQueue.create(tmp_path / ".launch" / "x", this_process(), RULES, [job])
    assert queue.take(this_process())[0] == job
    with pytest.raises(OSError, match="No space left"):
        Watch(queue, Ledger(tmp_path, float), Told()).run(job)
    assert calls == ["kill", "finish"]


def test_a_sweep_that_cannot_be_written_ends_without_a_traceback(tmp_path: Path) -> None:
    # No file may become larger than nothing: as on a full disk, and also where the tests are run by root.
    words = line("reflact-train", "-m", "harness=rehearsal", "ablation/lr=lr2,lr8", "hydra.sweep.dir=study")
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *words], cwd=tmp_path, capture_output=True, timeout=300
    )
    told = done.stderr.decode()
    assert done.returncode == 75 and "study/plan.json cannot be written: File too large" in told, told
    assert "Traceback" not in told, told


def test_a_root_where_no_folder_can_be_is_named(tmp_path: Path) -> None:
    words = line("reflact-train", "-m", "harness=rehearsal", "ablation/lr=lr2,lr8", "hydra.sweep.dir=/proc/nowhere")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=300)
    told = done.stderr.decode()
    assert done.returncode == 2 and "/proc/nowhere: no folder can be made there" in told, told
    assert "Traceback" not in told, told
