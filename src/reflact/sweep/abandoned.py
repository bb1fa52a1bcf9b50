"""What became of a run whose worker is gone: the run has lost its lifeline, and stops itself if it lives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from reflact.core.names import RunState, StopCause
from reflact.rundir.claims import inspect
from reflact.rundir.view import view_run
from reflact.sweep.ledger import Ledger
from reflact.sweep.queue import Job, LaunchQueue, Outcome
from reflact.sweep.watch import score_of

_LOOK_S = 0.1
_MORE_S = 5.0
"""Beyond the time of grace: a run that does not stop is killed at its end."""


def bury(queue: LaunchQueue, job: Job, tickets: Mapping[str, str]) -> None:
    """Wait until a run without a worker has ended, and record how.

    Args:
        queue: The launch.
        job: Taken by a worker that is gone.
        tickets: What the cluster says of its jobs, by the tickets of workers.
    """
    until = time.monotonic() + queue.rules.grace_s + _MORE_S
    while inspect(Path(job.out_dir)).alive and time.monotonic() < until:
        time.sleep(_LOOK_S)
    outcome = _outcome(queue, job, tickets)
    queue.end(outcome)
    Ledger(queue.root, time.time).write(
        job.run_id,
        outcome.state,
        benchmark=job.benchmark,
        out_dir=job.out_dir,
        attempt=job.attempt,
        cause=outcome.cause,
        message=outcome.message,
        job=queue.ticket(job),
    )


def _outcome(queue: LaunchQueue, job: Job, tickets: Mapping[str, str]) -> Outcome:
    view, ticket = view_run(Path(job.out_dir)), queue.ticket(job)
    said = tickets.get(ticket, "")
    why = f"Slurm says {said} of its job {ticket}" if said else "the process that watched over it was killed"
    if view.state is RunState.DONE:
        return Outcome(job.number, RunState.DONE, score=score_of(view))
    if view.stop_cause not in (None, StopCause.INTERRUPTED):
        assert view.state is not None
        return Outcome(job.number, view.state, view.stop_cause or "", view.stop_message or why)
    wanted = queue.stopped() or (why if said == "CANCELLED" else "")
    if wanted:
        return Outcome(job.number, RunState.STOPPED, StopCause.INTERRUPTED, wanted)
    return Outcome(job.number, RunState.FAILED, "worker" if said in ("", "FAILED", "COMPLETED") else said.lower(), why)
