"""What a Hydra launcher calls in the place of the command's own function: take a job and watch over it."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from reflact.core.interrupts import SIGNALS
from reflact.core.names import RunState
from reflact.rundir.owner import this_process
from reflact.sweep.ending import NOTICES
from reflact.sweep.ledger import Ledger
from reflact.sweep.memory import free_memory_gb
from reflact.sweep.queue import Job, LaunchQueue, Outcome
from reflact.sweep.watch import Told, Watch

_SUBMITIT = "submitit.core._submit"
_BAD = (RunState.FAILED, RunState.REFUSED)
_WAIT_S = 0.2
_NOT_A_NUMBER = float("nan")


@dataclass
class LaunchTask:
    """Called once for each job of a launch, on whatever machine the launcher chose.

    Launchers send it to other processes, so that it holds nothing but the path of the queue.

    Attributes:
        queue: The queue's folder; set before the launch.
    """

    queue: str = ""

    def __call__(self, node: Any) -> float:
        """Do one job; returns its score, NaN where there is none.

        Args:
            node: The configuration of the job that Hydra believes to start; which one is done is up to the queue.
        """
        folder = Path(self.queue)
        if not folder.exists():
            return _NOT_A_NUMBER  # the sweep is over
        queue = LaunchQueue(folder)
        outcome = _work(queue)
        if outcome is not None and outcome.state in _BAD:
            _fail_job()
        return _NOT_A_NUMBER if outcome is None or outcome.score is None else outcome.score


def _work(queue: LaunchQueue) -> Outcome | None:
    apart, told = this_process() != queue.sweeper, Told()
    if apart:
        _listen(told)
    job = _next(queue, told)
    if job is None:
        return None
    try:
        outcome = Watch(queue, Ledger(queue.root, time.time), told).run(job)
    except Exception as error:
        queue.end(Outcome(job.number, RunState.FAILED, "launch", f"{type(error).__name__}: {error}"))
        raise
    if queue.folder.exists():
        queue.end(outcome)
        if outcome.state in _BAD and queue.rules.on_failure == "stop":
            queue.drain(f"{job.run_id} failed and sweep.on_failure=stop")
    if apart and queue.orphaned():
        # Nobody waits for this worker any more, and its launcher would keep it for ever.
        os._exit(0)
    return outcome


def _next(queue: LaunchQueue, told: Told) -> Job | None:
    """Wait until a job may start; None if there is none left, or nothing more is to start."""
    me, ticket, said = this_process(), _ticket(), False
    while not told.why and not queue.orphaned():
        if queue.closed():
            return None
        job, left = queue.take(me, ticket, free_memory_gb)
        if job is not None or not left:
            return job
        if not said and (lacks := _lacking_memory(queue)):
            said = True
            sys.stderr.write(f"reflact: a start waits for memory: {lacks}\n")
        time.sleep(_WAIT_S)
    return None


def _lacking_memory(queue: LaunchQueue) -> str:
    least, free = queue.rules.min_free_memory_gb, free_memory_gb()
    if least <= 0 or free is None or free >= least:
        return ""
    return f"{free:.1f} GB are free, sweep.min_free_memory_gb={least:g}"


def _ticket() -> str:
    """Return the number of this worker's job where submitit started it; other launchers' numbers say nothing."""
    from hydra.core.hydra_config import HydraConfig

    return str(HydraConfig.get().job.id) if _under_submitit() else ""


def _listen(told: Told) -> None:
    """Let a signal stop the run that is watched here instead of ending this process.

    submitit would answer a cluster's notice by giving the job up at once; the run is to save its state instead.

    The handler stays when the job has ended: a worker that dies between two jobs would take its launcher down.
    """
    if threading.current_thread() is not threading.main_thread():
        return

    def handle(number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        notice = f"the time of its job is nearly over ({name})" if number in NOTICES else f"its worker got {name}"
        told.why = told.why or notice

    for number in (*heard_signals(), *(NOTICES if _under_submitit() else ())):
        signal.signal(number, handle)


def heard_signals() -> list[signal.Signals]:
    """Return the signals that end a sweep; a SIGHUP that it was started to ignore (`nohup`) is not among them."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in SIGNALS if number is not signal.SIGHUP or not ignored]


def _under_submitit() -> bool:
    return getattr(sys.modules["__main__"].__spec__, "name", "") == _SUBMITIT


def _fail_job() -> None:
    """Let the job of a failed run end as failed, or a cluster's own books would call it completed.

    The result has to be saved first, since submitit would give up its other jobs for an exception; so this comes last.
    """
    if _under_submitit():
        atexit.register(_exit_failed)


def _exit_failed() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(1)
