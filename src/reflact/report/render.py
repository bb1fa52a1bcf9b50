"""Progress as rich renderables: a panel for one run. Imported only where something is drawn."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from reflact.report import describe
from reflact.report.phases import PhaseProgress
from reflact.report.progress import RunProgress
from reflact.report.text import clean, duration, score

STATE_STYLES = {
    "done": "green",
    "running": "cyan",
    "waiting": "blue",
    "planned": "dim",
    "stopped": "yellow",
    "stale": "magenta",
    "failed": "red",
    "refused": "red",
    "archived": "dim",
}


NARROW = 60
"""Columns below which phases are shown without a bar."""


def run_panel(run: RunProgress, now: float, width: int = 80) -> RenderableType:
    """Return the panel of one run under way, for a terminal of `width` columns."""
    bar = width >= NARROW
    body: list[RenderableType] = [_now(run, now, bar)]
    body += [_phase(phase, run, now, bar) for phase in run.background]
    body.append(_facts(run, now))
    return Panel(Group(*body), title=_title(run), title_align="left", border_style=_border(run), padding=(0, 1))


def _title(run: RunProgress) -> Text:
    facts = run.facts
    title = Text(clean(run.run_id, 60) or "run", style="bold")
    names = [clean(facts.get(name), 30) for name in ("benchmark", "harness", "student")]
    described = " · ".join(name for name in names if name)
    if described:
        title.append(f" {described}", style="not bold dim")
    if run.simulated:
        title.append(" SIMULATED", style="bold yellow")
    return title


def _border(run: RunProgress) -> str:
    return "yellow" if run.simulated and run.state == "running" else STATE_STYLES.get(run.state, "none")


def _now(run: RunProgress, now: float, bar: bool) -> RenderableType:
    phase = run.phase
    if phase is None:
        text = describe.phase_line(run, now) if run.state == "running" else _ending(run)
        return Text(text, no_wrap=True, overflow="ellipsis")
    return _phase(phase, run, now, bar)


def _ending(run: RunProgress) -> str:
    parts = [str(run.state), clean(run.cause, 40), clean(run.message, 200)]
    return ": ".join(part for part in parts if part)


def _phase(phase: PhaseProgress, run: RunProgress, now: float, bar: bool) -> RenderableType:
    """Return name, bar and counts; the front phase also says what it waits for, on a line of its own."""
    front = phase is run.phase
    line = Table.grid(padding=(0, 1), expand=True)
    line.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
    if bar:
        line.add_column(ratio=2)
    line.add_column(no_wrap=True, justify="right")
    name = Text(clean(phase.name, 60), style="bold" if front else "dim")
    if phase.background:
        name.append(" (idle slots)", style="dim")
    counts = Text(f"{phase.done}/{phase.n}", style="" if front else "dim")
    if phase.hard is not None and bar:
        counts.append(f" · hard {score(phase.hard)}", style="dim")
    line.add_row(name, *([_bar(phase)] if bar else []), counts)
    waiting = describe.waiting_text(run, phase, now) if front else ""
    return Group(line, Text(f"  {waiting}", style="yellow", overflow="ellipsis", no_wrap=True)) if waiting else line


def _bar(phase: PhaseProgress) -> ProgressBar:
    return ProgressBar(
        total=max(phase.n, 1), completed=phase.done, style="dim", complete_style="cyan", finished_style="green"
    )


def _facts(run: RunProgress, now: float) -> RenderableType:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(style="dim", no_wrap=True, width=9)
    table.add_column(overflow="ellipsis", no_wrap=True, ratio=1)
    for name, text, style in _fact_rows(run, now):
        if text:
            table.add_row(name, Text(text, style=style))
    return table


def _fact_rows(run: RunProgress, now: float) -> list[tuple[str, str, str]]:
    rate = run.rate.per_minute(now)
    pace = [describe.place_text(run)]
    if run.state == "running" and rate is not None:
        pace.append(f"{rate:.0f} rows/min" if rate >= 10 else f"{rate:.1f} rows/min")
    pace.append(f"{duration(run.elapsed_s(now))} so far")
    eta = run.eta_s(now)
    if eta is not None:
        pace.append(f"at most {duration(eta)} to go")
    bad = any(run.statuses[name] for name in describe.STATUS_ORDER[1:])
    rows = [
        ("progress", " · ".join(part for part in pace if part), ""),
        ("selection", describe.scores_text(run), ""),
        ("decisions", describe.actions_text(run), ""),
        ("rows", describe.statuses_text(run), "yellow" if bad else ""),
        ("retries", describe.retries_text(run), "yellow"),
        ("spent", describe.spending_text(run), ""),
    ]
    taken = run.verdicts.last_taken
    if taken is not None and taken.preview:
        rows.append(("last edit", clean(taken.preview, 200), "green"))
    if run.warnings:
        more = f" (+{run.warned - 1} before)" if run.warned > 1 else ""
        rows.append(("warning", clean(run.warnings[-1].message, 300) + more, "yellow"))
    return rows
