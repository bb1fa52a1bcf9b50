"""Watching over one run: it is started, stopped where the rules say so, and what became of it is recorded."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from reflact.core.errors import ExitCode
from reflact.core.events import BaselineShared
from reflact.core.names import RunState, StopCause
from reflact.rundir.claims import inspect
from reflact.rundir.layout import RunLayout
from reflact.rundir.view import RunView, view_run
from reflact.sweep.elsewhere import last_word, taken_elsewhere
from reflact.sweep.ending import Child
from reflact.sweep.ledger import Ledger
from reflact.sweep.queue import Job, LaunchQueue, Outcome

_LOOK_S = 0.05
_PROGRESS_S = 1.0
_SIGN_S = 10.0
_TAIL = 4000
_CAUSES = {
    ExitCode.BUG: "bug",
    ExitCode.USAGE: "usage",
    ExitCode.UNAVAILABLE: "unavailable",
    ExitCode.REFUSED: "refused",
}


@dataclass(slots=True)
class Told:
    """Whether this process was told to stop.

    Attributes:
        why: By what; `""` while it was not.
    """

    why: str = ""


@dataclass(slots=True)
class Watch:
    """Watches one job.

    Attributes:
        queue: Where the job comes from.
        ledger: Where its states go.
        told: Whether this process was told to stop.
    """

    queue: LaunchQueue
    ledger: Ledger
    told: Told
    _why: str = ""
    _killed: bool = field(default=False)

    def run(self, job: Job) -> Outcome:
        """Run the job in a process of its own and return how it ended."""
        self._let_go(job)
        if job.attempt == 1 and (left := self._left_to_others(job)) is not None:
            return left
        with tempfile.TemporaryFile() as output:
            child = Child(job.command, job.arguments, self.queue.cwd, self.queue.rules.grace_s, output)
            try:
                self._note(job, RunState.RUNNING, pid=child.pid)
                self._follow(job, child)
            except BaseException:
                child.kill()
                child.finish()
                raise
            code = child.finish()
            said = _end(output)
        outcome = self._outcome(job, code, said)
        if outcome.state is RunState.REFUSED and (left := self._left_to_others(job)) is not None:
            return left
        self._note(job, outcome.state, outcome.cause, outcome.message, pid=child.pid)
        self._say(job, outcome, said)
        return outcome

    def _let_go(self, job: Job) -> None:
        """Wait until a former process of a resumed run has stopped; one that lost its watcher takes a moment."""
        until = time.monotonic() + self.queue.rules.grace_s
        while job.attempt > 1 and inspect(Path(job.out_dir)).alive and time.monotonic() < until:
            time.sleep(_LOOK_S)

    def _left_to_others(self, job: Job) -> Outcome | None:
        """Return the outcome of a run that another sweep is doing or has done; None if there is none such.

        The ledger's last word becomes what can be seen of it: this sweep has called it planned, or running. What
        changes while that is written is written again.
        """
        view = taken_elsewhere(job, lambda: self._reason(0.0))
        if view is None:
            return None
        word, where = last_word(self.queue.root, job), Path(job.out_dir).parent
        while (state := _seen(view, job)) is not word:
            owner = view.claim.owner
            pid, host = (owner.pid, owner.host) if owner is not None else (None, None)
            self._note(job, state, view.stop_cause or "", view.stop_message or "", pid=pid, host=host)
            word, view = state, view_run(view.root)
        done = state is RunState.DONE
        sys.stderr.write(f"reflact: {job.run_id}: {'done' if done else 'active'} in {where}, by another sweep\n")
        sys.stderr.flush()
        if done:
            return Outcome(job.number, RunState.DONE, message=f"done in {where}", score=score_of(view))
        return Outcome(job.number, RunState.RUNNING, message=f"active in {where}")

    def _follow(self, job: Job, child: Child) -> None:
        """Wait for the end; ask once, then wait for the time of grace, then kill."""
        rules, begun = self.queue.rules, time.monotonic()
        looked, signed, state = begun, begun, RunState.RUNNING
        asked: float | None = None
        while not child.ended():
            now = time.monotonic()
            if asked is None:
                self._why = self._reason(now - begun)
                if self._why:
                    asked = now
                    child.ask()
            elif now - asked > rules.grace_s and not self._killed:
                self._killed = True
                child.kill()
            if now - signed > _SIGN_S:
                signed = now
                self.queue.still_working(job)
            if now - looked > _PROGRESS_S:
                looked, before, state = now, state, _state(job)
                if state is not before:
                    self._note(job, state, pid=child.pid)
            time.sleep(_LOOK_S)

    def _reason(self, ran_s: float) -> str:
        if 0 < self.queue.rules.max_run_s < ran_s:
            return f"it ran longer than sweep.max_run_s={self.queue.rules.max_run_s:g}"
        if self.told.why:
            return self.told.why
        if self.queue.orphaned():
            return "the sweep's process is gone"
        return self.queue.stopped()

    def _outcome(self, job: Job, code: int, said: str) -> Outcome:
        view = view_run(Path(job.out_dir))
        if code == ExitCode.DONE:
            return Outcome(job.number, RunState.DONE, code=code, score=score_of(view))
        if code == ExitCode.STOPPED:
            cause = view.stop_cause or StopCause.INTERRUPTED.value
            return Outcome(job.number, RunState.STOPPED, cause, self._why or view.stop_message or said, code)
        if self._why and (self._killed or code == -signal.SIGTERM):
            return self._ended(job, code)
        if code < 0:
            name = signal.Signals(-code).name
            hint = " (the memory killer does that, or a person)" if -code == signal.SIGKILL else ""
            return Outcome(job.number, RunState.FAILED, name, f"killed by {name}{hint}", code)
        state = RunState.REFUSED if code == ExitCode.REFUSED else RunState.FAILED
        cause = _CAUSES.get(ExitCode(code), "") if code in set(ExitCode) else f"exit {code}"
        return Outcome(job.number, state, cause, _last_line(said) or view.stop_message or f"exit code {code}", code)

    def _ended(self, job: Job, code: int) -> Outcome:
        """Describe a run that was ended before it could save its state itself; its files are whole all the same."""
        if self.queue.rules.max_run_s and "sweep.max_run_s" in self._why:
            return Outcome(job.number, RunState.FAILED, "time_limit", f"{self._why} and did not stop when asked", code)
        return Outcome(job.number, RunState.STOPPED, StopCause.INTERRUPTED.value, self._why, code)

    def _note(
        self,
        job: Job,
        state: RunState,
        cause: str = "",
        message: str = "",
        pid: int | None = None,
        host: str | None = None,
    ) -> None:
        self.ledger.write(
            job.run_id,
            state,
            benchmark=job.benchmark,
            out_dir=job.out_dir,
            attempt=job.attempt,
            cause=cause,
            message=message,
            pid=pid,
            host=host,
            job=self.queue.ticket(job),
        )

    def _say(self, job: Job, outcome: Outcome, said: str) -> None:
        if outcome.state is RunState.DONE:
            sys.stderr.write(f"reflact: {job.run_id}: done\n")
        else:
            cause = f" ({outcome.cause})" if outcome.cause else ""
            sys.stderr.write(f"reflact: {job.run_id}: {outcome.state.value}{cause}: {outcome.message}\n")
        if outcome.code == ExitCode.BUG and said:
            sys.stderr.write(said.rstrip("\n") + "\n")
        sys.stderr.flush()


def _seen(view: RunView, job: Job) -> RunState:
    """Return the state of a run that another sweep does."""
    return _state(job) if view.state is RunState.RUNNING else view.state or RunState.PLANNED


def _state(job: Job) -> RunState:
    """Return whether a run works or only waits for another one's evaluation: then that is its last event."""
    try:
        with RunLayout(Path(job.out_dir)).events.open("rb") as file:
            last = _end(file).rstrip("\n").rpartition("\n")[2]
    except FileNotFoundError:
        return RunState.RUNNING
    waits = f'"{BaselineShared.kind}"' in last and '"waiting"' in last
    return RunState.WAITING if waits else RunState.RUNNING


def _end(output: IO[bytes]) -> str:
    size = output.seek(0, 2)
    output.seek(max(0, size - _TAIL))
    return output.read().decode("utf-8", "replace")


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else ""
    for program in ("reflact: ", "reflact-train: ", "reflact-eval: "):
        last = last.removeprefix(program)
    return last


def score_of(view: RunView) -> float | None:
    """Return the score of a complete run: its best skill's on the selection split, or an evaluation's."""
    summary = view.summary or {}
    best = summary.get("best") or {"selection": summary.get("scores")}
    hard = (best.get("selection") or {}).get("hard")
    return float(hard) if isinstance(hard, int | float) else None
