"""The end of a sweep: what did not end well, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reflact.core.errors import ExitCode
from reflact.core.names import RunState
from reflact.sweep.queue import Job, Outcome

_BAD = (RunState.FAILED, RunState.REFUSED)


def close(results: Sequence[tuple[Job, Outcome]]) -> ExitCode:
    """List the runs that are not done and return the sweep's exit code: 1 if one failed, else 75 if one stopped."""
    others = [job.run_id for job, outcome in results if outcome.state is RunState.RUNNING]
    if others:
        sys.stderr.write(f"reflact: {len(others)} of {len(results)} are left to another sweep: {', '.join(others)}\n")
    left = [(job, outcome) for job, outcome in results if outcome.state not in (RunState.DONE, RunState.RUNNING)]
    if not left:
        return ExitCode.DONE
    begun = [pair for pair in left if pair[1].state is not RunState.PLANNED]
    sys.stderr.write(f"reflact: {len(left)} of {len(results)} jobs did not end well:\n")
    for job, outcome in begun:
        cause = f" ({outcome.cause})" if outcome.cause else ""
        sys.stderr.write(f"  {job.run_id}: {outcome.state.value}{cause}: {outcome.message}\n")
    if len(left) > len(begun):
        first = next(outcome for _, outcome in left if outcome.state is RunState.PLANNED)
        sys.stderr.write(f"  {len(left) - len(begun)} were not started: {first.message}\n")
    sys.stderr.write("To go on: the same command with sweep.existing=resume and the same hydra.sweep.dir.\n")
    return ExitCode.BUG if any(outcome.state in _BAD for _, outcome in left) else ExitCode.STOPPED
