"""What a Hydra launcher calls in the place of the command's own function: take a job and watch over it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from reflact.core.names import RunState
from reflact.rundir.owner import is_gone, this_process
from reflact.sweep.ledger import Ledger
from reflact.sweep.memory import free_memory_gb
from reflact.sweep.queue import Job, LaunchQueue, Outcome
from reflact.sweep.watch import Watch

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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
        return _NOT_A_NUMBER if outcome is None or outcome.score is None else outcome.score


def _work(queue: LaunchQueue) -> Outcome | None:
    me, interrupted = this_process(), threading.Event()
    if os.getpid() != queue.sweeper.pid:
        _listen(interrupted)
    job = _next(queue, interrupted)
    if job is None:
        return None
    try:
        outcome = Watch(queue, Ledger(queue.root, time.time), interrupted).run(job)
    except Exception as error:
        queue.end(Outcome(job.number, RunState.FAILED, "launch", f"{type(error).__name__}: {error}"))
        raise
    if queue.folder.exists():
        queue.end(outcome)
        if outcome.state in (RunState.FAILED, RunState.REFUSED) and queue.rules.on_failure == "stop":
            queue.drain(f"{job.run_id} failed and sweep.on_failure=stop")
    if is_gone(queue.sweeper) and me.pid != queue.sweeper.pid:
        # Nobody waits for this worker any more, and its launcher would keep it for ever.
        os._exit(0)
    return outcome


def _next(queue: LaunchQueue, interrupted: threading.Event) -> Job | None:
    """Wait until a job may start; None if there is none left, or nothing more is to start."""
    me, told = this_process(), False
    while not interrupted.is_set() and not is_gone(queue.sweeper):
        if queue.closed():
            return None
        if _room(queue):
            job, left = queue.take(me)
            if job is not None or not left:
                return job
        elif not told:
            told = True
            least = queue.rules.min_free_memory_gb
            sys.stderr.write(f"reflact: a start waits for memory: sweep.min_free_memory_gb={least:g} is not free\n")
        time.sleep(_WAIT_S)
    return None


def _room(queue: LaunchQueue) -> bool:
    least = queue.rules.min_free_memory_gb
    free = free_memory_gb() if least > 0 else None
    return free is None or free >= least


def _listen(interrupted: threading.Event) -> None:
    """Let a signal stop the run that is watched here instead of ending this process.

    The handler stays when the job has ended: a worker that dies between two jobs would take its launcher down.
    """
    if threading.current_thread() is not threading.main_thread():
        return

    def handle(number: int, frame: FrameType | None) -> None:
        interrupted.set()

    for number in SIGNALS:
        signal.signal(number, handle)
