"""Runs of this sweep that another live sweep is doing, or has done, since this one looked at their directories.

Two sweeps of one study that start in the same moment both find them free. Each run is done by whoever claims its
directory; to the other that is no failure: it leaves the run alone, as a sweep that starts later does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from reflact.core.errors import ReflactError
from reflact.core.hashing import digest
from reflact.core.names import RunState
from reflact.engine.run_record import read_record
from reflact.report.ledger_lines import last_lines
from reflact.rundir.layout import RunLayout
from reflact.rundir.view import RunView, view_run
from reflact.sweep.queue import Job

TAKEN = frozenset({RunState.RUNNING, RunState.DONE})
"""States of a run that need nobody else."""
_LOOK_S = 0.1


def taken_elsewhere(job: Job, told: Callable[[], str]) -> RunView | None:
    """Return what is in a job's directory if another process is doing, or has done, just that run.

    Args:
        job: The job; no process of this sweep is at it.
        told: Returns why this process is to stop, `""` if it is not: a run that is just beginning is waited for until
            its record says what it is.
    """
    place = Path(job.out_dir)
    while True:
        view = view_run(place)
        if not view.ours or view.state not in TAKEN:
            return None
        try:
            record = read_record(RunLayout(place))
        except ReflactError:
            return None  # whoever looks closer says what is wrong with it
        if record is not None or told():
            break
        time.sleep(_LOOK_S)
    if record is None:
        return view
    other_code = view.state is RunState.DONE and job.code not in ("", record["code_version"])
    return None if other_code or digest(record["identity"]) != job.identity else view


def last_word(root: Path, job: Job) -> RunState | None:
    """Return the last state that a sweep's ledger tells of a job's run."""
    try:
        told = last_lines([root]).get(root / Path(job.out_dir).name)
    except ReflactError:
        return None
    return None if told is None else told.state
