"""The study as the page shows it: runs, tables, and the numbers of its charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import fsum

from reflact.core.names import RunState
from reflact.core.types import Json
from reflact.report.html.charts import charts
from reflact.report.html.entries import Content, Entry
from reflact.report.html.happened import Happened
from reflact.report.html.overview import state_of
from reflact.report.html.reading import NONSENSE, number
from reflact.report.tables.grid import Grid
from reflact.report.tables.measures import Spending, spending
from reflact.report.text import count, duration, interval, money, plural, score


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what counts, what stands beside it in grey, and the run that it leads to.

    Attributes:
        main: What counts.
        rest: What belongs to it (an interval, n).
        badge: One word that is set apart (`noise`, `invalid`).
        run: Place of the run that it leads to.
        sort: What the column is sorted by: a number, else the text.
    """

    main: str
    rest: str = ""
    badge: str = ""
    run: str = ""
    sort: float | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list of runs."""

    place: str
    state: str
    cells: tuple[Cell, ...]
    reasons: tuple[str, ...]
    title: str


RUN_COLUMNS = (
    "run", "state", "benchmark", "student", "selection", "test", "gain on test", "accepted", "tokens", "cost", "time",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StudyView:
    """What the first page shows.

    Attributes:
        marks: `SIMULATED`, `SAMPLE`: what all or some of the runs are.
        tiles: The study in a few numbers: (name, value, remark).
        runs: The list of runs.
        grids: The tables, cells split into parts.
        notes: What concerns all tables.
        problems: What could not be read.
        charts: Numbers of the forest plots and of cost against gain.
    """

    marks: tuple[tuple[str, str], ...]
    tiles: tuple[tuple[str, str, str], ...]
    runs: tuple[RunRow, ...]
    grids: tuple[tuple[Grid, tuple[tuple[Cell, ...], ...]], ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    charts: Json = field(default=None)


def study_view(content: Content, happened: Sequence[Happened], problems: Sequence[str]) -> StudyView:
    """Return the first page.

    Args:
        content: What was found.
        happened: The events of each of its runs, folded.
        problems: Files that could not be read.
    """
    pairs = list(zip(content.entries, happened, strict=True))
    places = _places(content.entries)
    grids = content.tables.grids if content.tables is not None else ()
    return StudyView(
        marks=tuple(_marks(content.entries)),
        tiles=tuple(_tiles(pairs)),
        runs=tuple(_row_or_name(entry, events, _told_apart(content.entries), places) for entry, events in pairs),
        grids=tuple((grid, tuple(tuple(_cells(grid, row, places)) for row in grid.rows)) for grid in grids),
        notes=content.tables.notes if content.tables is not None else (),
        problems=(*content.problems, *problems),
        charts=charts(grids, content.entries, places),
    )


def _places(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the run that an id leads to, where only one has it."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        found.setdefault(entry.run.run_id, []).append(entry.place)
    return {run_id: places[0] for run_id, places in found.items() if len(places) == 1}


def _marks(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    words = (
        ("SIMULATED", "simulated", "answers and edits come from a rehearsal, not from models"),
        ("SAMPLE", "sample", "the items are made ones that ship with reflact, not a benchmark"),
    )
    for mark, flag, meaning in words:
        marked = sum(1 for entry in entries if getattr(entry.run, flag))
        if marked:
            share = "all runs" if marked == len(entries) else f"{marked} of {len(entries)} runs"
            yield mark, f"{share}: {meaning}"


def _tiles(pairs: Sequence[tuple[Entry, Happened]]) -> Iterator[tuple[str, str, str]]:
    states: dict[str, int] = {}
    for entry, events in pairs:
        state = state_of(entry, events)
        states[state] = states.get(state, 0) + 1
    order = [state.value for state in RunState]
    told = ", ".join(f"{states[state]} {state}" for state in order if state in states)
    yield "runs", str(len(pairs)), told
    invalid = sum(1 for entry, _ in pairs if entry.valid is False)
    complete = sum(1 for entry, _ in pairs if entry.run.complete)
    left_out = f"{invalid} invalid, so in no table" if invalid else "none is invalid"
    yield (
        "valid",
        f"{complete - invalid} of {complete}" if complete else "–",
        left_out if complete else "none is complete",
    )
    spent = [_spent(entry, events) for entry, events in pairs]
    tokens = [one.tokens_own for one in spent if one.tokens_own is not None]
    yield "tokens", count(fsum(tokens)), "spent by all runs, shared work once"
    costs = [one.cost_own for one in spent if one.cost_own is not None]
    unknown = len(spent) - len(costs)
    rest = f"the price of {plural(unknown, 'run')} is not known" if unknown else "spent by all runs, shared work once"
    yield "cost", money(fsum(costs)) if costs else "–", rest


def _spent(entry: Entry, events: Happened) -> Spending:
    if entry.run.complete and not entry.damaged:
        with suppress(*NONSENSE):
            return spending(entry.run)
    told = events.progress.spending
    return Spending(number(told.tokens_total), 0.0, number(told.cost_usd), 0.0)


def _told_apart(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the flags that some runs have and others have not; what holds for all is said above the list."""
    flags = ("simulated", "sample")
    return frozenset(flag for flag in flags if len({getattr(entry.run, flag) for entry in entries}) > 1)


def _row_or_name(entry: Entry, events: Happened, told_apart: frozenset[str], places: Mapping[str, str]) -> RunRow:
    """Return a run's row; of one whose files say nonsense, its name."""
    try:
        return _run_row(entry, events, told_apart, places)
    except NONSENSE:
        state = entry.run.state.value
        cells = (Cell(entry.run.run_id, run=entry.place), Cell(state), *(Cell("–") for _ in RUN_COLUMNS[2:]))
        return RunRow(entry.place, state, cells, (), f"{entry.run.run_id} {entry.place} {state}")


def _run_row(entry: Entry, events: Happened, told_apart: frozenset[str], places: Mapping[str, str]) -> RunRow:
    run, spent, state = entry.run, _spent(entry, events), state_of(entry, events)
    badge = "invalid" if entry.valid is False else ""
    facts = events.progress.facts
    seconds = run.summary.number("wall_time_s") if run.complete else _worked(events)
    flags = [mark for mark, holds in (("simulated", run.simulated), ("sample", run.sample)) if holds]
    told = [flag for flag in flags if flag in told_apart]
    cells = (
        Cell(run.run_id, " ".join((*_folder(entry, places), *told)), run=entry.place),
        Cell(state, run.cause or run.summary.text("stop_reason"), badge),
        Cell(run.benchmark or str(facts.get("benchmark") or "")),
        Cell(run.summary.text("student") or run.record.text("student") or str(facts.get("student") or "")),
        _before_after(entry, events, "selection"),
        _before_after(entry, events, "test"),
        _gain(entry),
        _accepted(entry, events),
        Cell(count(spent.tokens), f"({count(spent.tokens_reused)} reused)" if spent.tokens_reused else "",
             sort=spent.tokens),
        Cell(money(spent.cost_usd), sort=spent.cost_usd),
        Cell(duration(seconds), sort=seconds),
    )  # fmt: skip
    words = f"{run.run_id} {entry.place} {state} {run.benchmark} {' '.join(flags)} {badge}"
    return RunRow(entry.place, state, cells, tuple(entry.reasons), words)


def _folder(entry: Entry, places: Mapping[str, str]) -> Iterator[str]:
    """Yield where a run is whose id another run has too."""
    if entry.run.run_id not in places:
        folder, _, name = entry.place.rpartition("/")
        yield f"in {folder}" if folder and name == entry.run.run_id else entry.place


def _worked(events: Happened) -> float | None:
    end = events.progress.last_at
    return None if end is None else events.progress.elapsed_s(end)


def _before_after(entry: Entry, events: Happened, part: str) -> Cell:
    """Return the initial and the best skill's score, with the interval of the latter."""
    before, after = entry.run.score("baseline", part), entry.run.score("best", part)
    if after is not None and after.hard is not None:
        first = f"{score(before.hard)} → " if before is not None and before.hard is not None else ""
        rest = f"{interval(after.ci95)} n={after.scored}"
        return Cell(f"{first}{score(after.hard)}", rest.strip(), sort=after.hard)
    progress = events.progress
    selection = part == "selection"
    old = number(progress.baseline if selection else progress.test("baseline"))
    new = number(progress.best if selection else progress.test("best"))
    if old is None and new is None:
        return Cell("–")
    return Cell(f"{score(old)} → {score(new)}" if new is not None else score(old), "so far", sort=new)


def _gain(entry: Entry) -> Cell:
    value = entry.run.summary.number("delta_test")
    if value is None:
        return Cell("–")
    bounds = entry.run.summary.get("confidence", "delta_test")
    known = isinstance(bounds, list) and len(bounds) == 2 and all(number(bound) is not None for bound in bounds)
    noise = "noise" if known and bounds[0] <= 0 <= bounds[1] else ""
    return Cell(f"{value:+.3f}", f"[{bounds[0]:+.3f}, {bounds[1]:+.3f}]" if known else "", noise, sort=value)


def _accepted(entry: Entry, events: Happened) -> Cell:
    summary, progress = entry.run.summary, events.progress
    accepted, total = summary.whole("steps", "accepted"), summary.whole("steps", "total")
    if accepted is None:
        taken = [kept for kept in progress.verdicts.all if kept.what == "step" and kept.taken]
        accepted, total = len(taken), progress.steps or None
        if not progress.verdicts.all:
            return Cell("–")
    return Cell(f"{accepted}" if total is None else f"{accepted}/{total}", sort=float(accepted))


def _cells(grid: Grid, row: Sequence[str], places: Mapping[str, str]) -> Iterator[Cell]:
    for column, text in zip(grid.columns, row, strict=True):
        main, gap, rest = text.partition(" [")
        badge = "noise" if rest.endswith(" noise") else ""
        rest = f"[{rest.removesuffix(' noise')}" if gap else ""
        run = places.get(text.removeprefix("= "), "") if column == "run" else ""
        yield Cell(main, rest, badge, run, _sortable(main))


def _sortable(text: str) -> float | None:
    try:
        return number(float(text))
    except ValueError:
        return None
