"""Progress as plain lines, for logs and pipes: what happened, and where the run is every so often."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reflact.report import describe
from reflact.report.progress import RunProgress, seconds
from reflact.report.text import clean, counted, duration, plural, score


class PlainLines:
    """Turns events and the passing of time into lines. One consumer; times are passed in.

    Args:
        run: The progress that is fed with the same events, each just before it comes here.
        interval_s: Seconds between lines about the phase under way.
        write: Takes one line, without its newline.
    """

    def __init__(self, run: RunProgress, interval_s: float, write: Callable[[str], None]) -> None:
        self._run = run
        self._interval_s = interval_s
        self._write = write
        self._said_at = 0.0
        self._retries: Counter[str] = Counter()
        self._said: str = ""

    def event(self, event: Mapping[str, Any]) -> None:
        """Say what an event is worth."""
        at = seconds(event.get("t")) or 0.0
        speak = _SPEAKERS.get(str(event.get("kind")))
        if speak is not None:
            for line in speak(self._run, event):
                self._say(at, line)
            if event.get("kind") in ("phase_ended", "run_stopped", "run_finished"):
                self._say_retries(at)
            self._said_at = at

    def tick(self, now: float) -> None:
        """Say where the run is, if that was not said for `interval_s`."""
        run = self._run
        if run.state != "running" or now - self._said_at < self._interval_s:
            return
        line = self._where(now)
        self._say_retries(now)
        # A run that stands still is worth saying too, but not by the same words over and over.
        if line and line != self._said:
            self._say(now, line)
        self._said, self._said_at = line, now

    def _where(self, now: float) -> str:
        run = self._run
        rate, eta = run.rate.per_minute(now), run.eta_s(now)
        parts = [
            describe.phase_line(run, now),
            f"{rate:.1f} rows/min" if rate is not None else "",
            f"background {clean(run.background[0].name, 60)} {run.background[0].done}/{run.background[0].n}"
            if run.background
            else "",
            f"at most {duration(eta)} to go" if eta is not None else "",
        ]
        return " · ".join(part for part in parts if part)

    def _say_retries(self, at: float) -> None:
        new = self._run.retries.counts - self._retries
        if new:
            self._say(at, f"retries since the last line: {counted(new).replace('_', ' ')}")
            self._retries = Counter(self._run.retries.counts)

    def _say(self, at: float, line: str) -> None:
        self._write(f"{time.strftime('%H:%M:%S', time.localtime(at))} {line}")


def _run_started(run: RunProgress, event: Mapping[str, Any]) -> Iterator[str]:
    names = ", ".join(clean(event.get(name), 40) for name in ("benchmark", "harness"))
    models = ", ".join(f"{role} {clean(event.get(role), 40)}" for role in ("student", "teacher") if event.get(role))
    how = "goes on" if event.get("resumed") else "begins"
    # The evaluation of one skill has neither a teacher nor steps.
    size = f"; {plural(run.epochs, 'epoch')}, {plural(run.steps, 'step')}" if run.steps else ""
    yield f"run {clean(run.run_id, 80)} {how}: {names}; {models}{size}"
    if run.simulated:
        yield "SIMULATED: student and teacher are rehearsal backends; no number here is a measurement"


def _phase_started(_run: RunProgress, event: Mapping[str, Any]) -> Iterator[str]:
    done = f", {event.get('done')} of them there already" if event.get("done") else ""
    idle = " (in idle slots)" if event.get("background") else ""
    yield f"{clean(event.get('name'), 60)}: {plural(int(event.get('n') or 0), 'row')}{done}{idle}"


def _phase_ended(run: RunProgress, event: Mapping[str, Any]) -> Iterator[str]:
    phase = run.ended.get(str(event.get("name")))
    if phase is None:
        return
    statuses = ", ".join(f"{name} {phase.statuses[name]}" for name in describe.STATUS_ORDER if phase.statuses[name])
    cut = f" of {phase.n}, stopped early: it could no longer win" if phase.hard is None and phase.done < phase.n else ""
    result = (
        f"hard {score(phase.hard)} over {phase.scored} of {phase.n}"
        if phase.hard is not None
        else f"{plural(phase.done, 'row')}{cut}"
    )
    yield f"{clean(phase.name, 60)} done: {result}; {statuses}"


def _decision(run: RunProgress, _event: Mapping[str, Any]) -> Iterator[str]:
    kept = run.verdicts.last
    if kept is None:
        return
    yield describe.verdict_text(kept)
    if kept.taken and kept.preview:
        yield f"  edit: {clean(kept.preview, 160)}"


def _warning(_run: RunProgress, event: Mapping[str, Any]) -> Iterator[str]:
    yield f"warning ({clean(event.get('code'), 40)}): {clean(event.get('message'), 500)}"


def _call_failed(_run: RunProgress, event: Mapping[str, Any]) -> Iterator[str]:
    who = f"{clean(event.get('role'), 16)} call ({clean(event.get('stage'), 24)})"
    yield f"{who} given up: {clean(event.get('cause'), 40)}: {clean(event.get('message'), 300)}"


def _run_stopped(run: RunProgress, _event: Mapping[str, Any]) -> Iterator[str]:
    # The command itself ends with the message and with how to go on.
    yield f"{run.state}: {clean(run.cause, 40)}"


def _run_finished(run: RunProgress, _event: Mapping[str, Any]) -> Iterator[str]:
    yield f"done ({clean(run.cause, 40)}): {describe.spending_text(run)}"


_SPEAKERS: dict[str, Callable[[RunProgress, Mapping[str, Any]], Iterator[str]]] = {
    "run_started": _run_started,
    "phase_started": _phase_started,
    "phase_ended": _phase_ended,
    "decision": _decision,
    "warning": _warning,
    "call_failed": _call_failed,
    "run_stopped": _run_stopped,
    "run_finished": _run_finished,
}
