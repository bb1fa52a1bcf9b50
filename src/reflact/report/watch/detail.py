"""One run in detail: where it is, what holds it up, what went wrong last, what it learned last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from reflact.report import describe
from reflact.report.progress import Note, RunProgress
from reflact.report.render import STATE_STYLES, run_panel
from reflact.report.status import RunLine
from reflact.report.status_view import trouble
from reflact.report.summaries import read_object
from reflact.report.text import clean, counted, duration, plural
from reflact.rundir.layout import RunLayout

_SHOWN = 5


def detail(line: RunLine, run: RunProgress | None, now: float, width: int) -> list[RenderableType]:
    """Return the parts of the view of one run.

    Args:
        line: What `reflact status` says of it.
        run: What its events tell; None if it has not begun.
        now: The time.
        width: Columns of the screen.
    """
    head = Text.assemble((clean(line.id, 60), "bold"), " ", (line.state, STATE_STYLES.get(line.state, "")))
    parts: list[RenderableType] = [head, Text(clean(line.path), style="dim", overflow="fold")]
    said = trouble(line)
    if said:
        parts.append(Text(said, style="yellow", overflow="fold"))
    if run is None or not run.facts:
        return [*parts, Text(), Text("it has not begun")]
    parts.append(run_panel(run, now, width))
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for name, text in _rows(line, run, now):
        table.add_row(name, text)
    return [*parts, table]


def _rows(line: RunLine, run: RunProgress, now: float) -> Iterator[tuple[str, Text]]:
    if line.pid is not None:
        yield "process", Text(f"pid {line.pid} on {clean(line.host, 40)}")
    slots = _slots(line, run)
    if slots:
        yield "slots", Text(slots)
    for name, text in _waits(run, now):
        yield name, Text(text, style="yellow")
    yield from _told("errors", run.failures, "red")
    yield from _told("warnings", run.warnings, "yellow")
    taken = run.verdicts.last_taken
    if taken is not None:
        yield "last change", Text(describe.verdict_text(taken), style="green")
        if taken.preview:
            yield "", Text(clean(taken.preview, 600))


def _slots(line: RunLine, run: RunProgress) -> str:
    """Say how many of the student's slots can be busy: a run keeps them filled while a phase has rows left."""
    if line.state != "running" or not run.open:
        return ""
    record = read_object(RunLayout(Path(line.path)).config) or {}
    config = record.get("config")
    env = config.get("env") if isinstance(config, dict) else None
    workers = env.get("workers") if isinstance(env, dict) else None
    if not isinstance(workers, int):
        return ""
    left = sum(phase.left for phase in run.open.values())
    waiting = sum(1 for call in run.retries.waiting if call.role == "student")
    paused = f", {waiting} of them waiting for a retry" if waiting else ""
    return f"at most {min(left, workers)} of {workers} busy{paused}"


def _waits(run: RunProgress, now: float) -> Iterator[tuple[str, str]]:
    kinds: dict[str, list[float]] = {}
    for call in run.retries.waiting:
        kind = f"{call.role} {call.stage}, {describe.retry_text(call)}"
        kinds.setdefault(clean(kind, 80).replace("_", " "), []).append(call.until - now)
    for place, (kind, left) in enumerate(sorted(kinds.items())[:_SHOWN]):
        soonest = min(left)
        when = f", next in {duration(soonest)}" if soonest >= 1 else ", being tried"
        yield "" if place else "waiting", f"{plural(len(left), 'call')}: {kind}{when}"
    if run.retries.counts:
        yield "retries", f"{counted(run.retries.counts)} so far".replace("_", " ")


def _told(name: str, notes: list[Note], style: str) -> Iterator[tuple[str, Text]]:
    for place, note in enumerate(reversed(notes[-_SHOWN:])):
        when = time.strftime("%H:%M:%S", time.localtime(note.at))
        text = f"{when} {clean(note.code, 32)}: {clean(note.message, 240)}"
        yield "" if place else name, Text(text, style=style)
