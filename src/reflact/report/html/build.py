"""From run directories to the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.types import Json
from reflact.report.html.entries import Content, Entry, collect
from reflact.report.html.happened import Happened
from reflact.report.html.overview import overview, state_of
from reflact.report.html.pack import pack
from reflact.report.html.page import Pack, render
from reflact.report.html.phases import PhaseRef, find_phases
from reflact.report.html.reading import NONSENSE, Reader
from reflact.report.html.study import study_view
from reflact.report.html.texts import CHARS, RunTexts, SharedTexts
from reflact.report.html.trajectories import FIELDS, show_texts, trajectories
from reflact.report.outputs import output_file, writing
from reflact.report.text import clean
from reflact.rundir.atomic import write_text
from reflact.rundir.layout import RunLayout


@dataclass(frozen=True, slots=True)
class Report:
    """A finished report.

    Attributes:
        page: The file's text.
        runs: Runs in it.
        rows: Rows in it.
        problems: What could not be read, each with the name of its file.
    """

    page: str
    runs: int
    rows: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A run while it is read."""

    entry: Entry
    reader: Reader
    records: list[dict[str, Any]]
    phases: list[PhaseRef]


def build_report(
    roots: Sequence[Path], *, archived: bool = False, ignore: Sequence[str] = (), chars: int = CHARS
) -> Report:
    """Make the report of all runs below some roots; the same files give the same text.

    Args:
        roots: Run directories, sweeps, or folders above them.
        archived: Take archived runs too.
        ignore: Rules of validity that are declared harmless.
        chars: Characters to keep of a conversation; 0 leaves conversations out.

    Raises:
        ReflactError: A root is no directory, a rule does not exist, or there is nothing to report.
    """
    content = collect(roots, archived=archived, ignore=ignore)
    sources = [_source(entry) for entry in content.entries]
    shared = SharedTexts()
    for place, source in enumerate(sources):
        show_texts(place, source.phases, Reader(source.entry.run.path), shared, chars)
    packs: list[Pack] = []
    happened: list[Happened] = []
    rows = 0
    for place, source in enumerate(sources):
        events = Happened().feed_all(source.reader.lines(RunLayout(source.entry.run.path).events))
        happened.append(events)
        try:
            made, count = _packs(place, source, events, shared, chars)
        except NONSENSE as error:
            source.reader.note(source.entry.run.path, f"cannot be shown: a file says nonsense ({error})")
            made, count = _unreadable(place, source), 0
        packs += made
        rows += count
    pools = list(shared.pools)
    packs += [Pack(f"pool-{place}", pack(shared.pools[name])) for place, name in enumerate(pools)]
    return _finished(roots, content, sources, happened, pools, packs, rows)


def write_report(report: Report, out: Path) -> None:
    """Write the file; its folder has to exist.

    Raises:
        ConfigError: It cannot be written there; see `check_place`.
    """
    with writing(out):
        write_text(check_place(out), report.page)


def check_place(out: Path) -> Path:
    """Return the file where a report can lie; best asked before hours of reading.

    Raises:
        ConfigError: It cannot.
    """
    return output_file(out, "report.html")


def _source(entry: Entry) -> _Source:
    layout, reader = RunLayout(entry.run.path), Reader(entry.run.path)
    if not entry.run.record.data:
        reader.note(layout.config, "is missing or no JSON object")
    if layout.summary.is_file() and not entry.run.summary.data:
        reader.note(layout.summary, "is no summary of a complete run")
    records = list(reader.lines(layout.history))
    return _Source(entry, reader, records, find_phases(layout, reader, records))


def _packs(place: int, source: _Source, events: Happened, shared: SharedTexts, chars: int) -> tuple[list[Pack], int]:
    texts = RunTexts(shared, source.entry.run.benchmark)
    rows = trajectories(source.phases, source.reader, texts, chars)
    problems = source.reader.problems  # the same list all the time: what is read now is named in it too
    view = overview(source.entry, source.reader, source.records, events, problems)
    return [Pack(f"run-{place}", pack(view)), Pack(f"rows-{place}", pack(rows))], len(rows["rows"])


def _unreadable(place: int, source: _Source) -> list[Pack]:
    """Return what stands for a run that cannot be shown."""
    rows = {"fields": list(FIELDS), "phases": [], "rows": [], "texts": []}
    return [Pack(f"run-{place}", pack({"problems": source.reader.problems})), Pack(f"rows-{place}", pack(rows))]


def _finished(
    roots: Sequence[Path], content: Content, sources: Sequence[_Source], happened: Sequence[Happened],
    pools: Sequence[str], packs: Sequence[Pack], rows: int,
) -> Report:  # fmt: skip
    problems = [f"{source.entry.place}: {problem}" for source in sources for problem in source.reader.problems]
    study = study_view(content, happened, problems)
    runs = [_index(source.entry, events, pools) for source, events in zip(sources, happened, strict=True)]
    index = pack({"runs": runs, "charts": study.charts})
    title = ", ".join(dict.fromkeys(clean(root.resolve().name) for root in roots))
    return Report(render(title, study, index, packs), len(sources), rows, study.problems)


def _index(entry: Entry, events: Happened, pools: Sequence[str]) -> Json:
    """Return what the page needs of a run before it is opened."""
    run = entry.run
    return {
        "place": entry.place,
        "id": run.run_id,
        "state": state_of(entry, events),
        "cause": run.cause or run.summary.text("stop_reason"),
        "message": events.progress.message,
        "benchmark": run.benchmark,
        "simulated": run.simulated,
        "sample": run.sample,
        "valid": entry.valid,
        "reasons": entry.reasons,
        "damaged": entry.damaged,
        "point": [run.point.group, run.point.benchmark, run.point.value] if run.point else None,
        "pool": pools.index(run.benchmark) if run.benchmark in pools else -1,
    }
