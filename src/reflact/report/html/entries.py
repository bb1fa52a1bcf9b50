"""The runs of a report, and the desk that its tables are made on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reflact.core.errors import ConfigError, DataError
from reflact.core.names import RunState
from reflact.report.html.reading import NONSENSE
from reflact.report.summaries import SummaryView, read_object
from reflact.report.tables.compile import Desk, Tables, compile_tables, open_desk
from reflact.report.tables.found import Run
from reflact.report.tables.judge import Finding, Judge
from reflact.report.tables.measures import measure
from reflact.report.tables.rows import Layout
from reflact.report.tables.rules import load_rules
from reflact.report.text import clean
from reflact.rundir.layout import RunLayout
from reflact.rundir.view import find_runs, view_run


@dataclass(frozen=True, slots=True)
class Entry:
    """A run of the report.

    Attributes:
        run: The run.
        place: Its directory as people know it; no other run of the report has the same.
        findings: What the rules of validity said of it in the table of its own group; empty if it is in none.
        damaged: Why its rows cannot be used for tables, `""` if they can.
    """

    run: Run
    place: str
    findings: tuple[Finding, ...] = ()
    damaged: str = ""

    @property
    def valid(self) -> bool | None:
        """Whether it may fill its cell; None for a run that is in no table or not complete."""
        if not self.run.complete:
            return None
        if self.findings:
            return not any(finding.reasons and not finding.ignored for finding in self.findings)
        return self.run.summary.valid

    @property
    def reasons(self) -> list[str]:
        """What speaks against it, the rule's name first."""
        if not self.findings:
            return self.run.summary.reasons
        return [
            f"{finding.rule}: {reason}"
            for finding in self.findings
            if not finding.ignored
            for reason in finding.reasons
        ]


@dataclass(frozen=True, slots=True)
class Content:
    """What a report is about.

    Attributes:
        entries: All runs, in the order of their ids.
        tables: The compiled tables, None if there are none.
        desk: What they were made on.
        problems: What kept a table or a run out.
    """

    entries: tuple[Entry, ...]
    tables: Tables | None
    desk: Desk | None
    problems: tuple[str, ...]


def collect(roots: Sequence[Path], *, archived: bool = False, ignore: Sequence[str] = ()) -> Content:
    """Find the runs below some roots and compile their tables.

    A plan or rows that are damaged keep tables or a run out of them, and are named; the report is made all the same.

    Raises:
        ConfigError: A root is no directory, a rule does not exist, or there is nothing to report.
    """
    for root in roots:
        if not root.is_dir():
            raise ConfigError(f"{root} is not a directory; reflact report takes run directories or folders above them")
    problems: list[str] = []
    try:
        desk: Desk | None = open_desk(roots, ignore=ignore)
    except DataError as error:
        desk = None
        problems.append(f"There are no tables: {error}")
    damaged: dict[Path, str] = {}
    if desk is not None:
        desk, damaged = _sound(desk, ignore)
    runs = _runs(roots, archived, desk, damaged, problems)
    if not runs and (desk is None or not desk.study.planned):
        raise ConfigError(f"there are no runs below {', '.join(map(str, roots))}, so there is nothing to report")
    problems += [f"{path.name} is in no table: {why}" for path, why in damaged.items()]
    entries = _entries(runs, desk, damaged)
    tables = None
    try:
        tables = compile_tables(desk) if desk is not None else None
    except (DataError, OSError, *NONSENSE) as error:
        problems.append(f"There are no tables: a file of a run says nonsense ({error})")
    return Content(entries, tables, desk, tuple(problems))


def _runs(
    roots: Sequence[Path], archived: bool, desk: Desk | None, damaged: Mapping[Path, str], problems: list[str]
) -> list[Run]:
    """Return every run below the roots, as the tables know it where they do; copies of a run are left out as there."""
    found = {run.path.resolve(): run for run in _every(roots, archived, problems)}
    if desk is None:
        return list(found.values())
    placed = {run.path.resolve(): run for run in (*desk.study.runs, *desk.study.strays)}
    live = {path.resolve() for root in roots for path in find_runs(root)}
    return [
        placed.get(path, run) for path, run in found.items() if path in placed or path in damaged or path not in live
    ]


def _sound(desk: Desk, ignore: Sequence[str]) -> tuple[Desk, dict[Path, str]]:
    """Leave out runs whose rows cannot be read: one of them would keep all tables from being made."""
    damaged: dict[Path, str] = {}
    for run in (*desk.study.runs, *desk.study.strays):
        try:
            if run.complete:
                measure([run], [])
        except (DataError, OSError, *NONSENSE) as error:
            damaged[run.path.resolve()] = str(error)
    if not damaged:
        return desk, damaged
    kept = [run for run in desk.study.runs if run.path.resolve() not in damaged]
    strays = [run for run in desk.study.strays if run.path.resolve() not in damaged]
    study = replace(desk.study, runs=tuple(kept), strays=tuple(strays))
    judge = Judge(study.runs, load_rules(), desk.axes, ignore)
    return Desk(study, judge, Layout(study, (), judge, desk.axes), desk.axes), damaged


def _every(roots: Sequence[Path], archived: bool, problems: list[str]) -> list[Run]:
    """Return every run below the roots, whatever its state."""
    found: list[Run] = []
    for root in roots:
        for path in find_runs(root, archived=archived):
            try:
                found.append(_run(root, path))
            except OSError as error:
                problems.append(f"{path.name} cannot be read: {error.strerror}")
    return found


def _run(root: Path, path: Path) -> Run:
    view = view_run(path)
    summary = SummaryView(view.summary if view.summary is not None else {})
    record = SummaryView(read_object(RunLayout(path).config) or {})
    run_id = summary.text("run_id") or record.text("run_id") or path.name
    place = path.name if path == root else str(Path(root.name, path.relative_to(root)))
    return Run(path, place, run_id, view.state or RunState.FAILED, view.stop_cause or "", summary, record)


def _entries(runs: Sequence[Run], desk: Desk | None, damaged: dict[Path, str]) -> tuple[Entry, ...]:
    places: dict[str, int] = {}
    entries: list[Entry] = []
    for run in sorted(runs, key=lambda run: (run.run_id, run.place)):
        name = clean(run.place)
        places[name] = places.get(name, 0) + 1
        place = name if places[name] == 1 else f"{name} ({places[name]})"
        findings: tuple[Finding, ...] = ()
        if desk is not None and run.point is not None:
            with suppress(*NONSENSE):  # the tables, where it would count, name it
                findings = desk.judge.verdict(run, run.point.group).findings
        entries.append(Entry(run, place, findings, damaged.get(run.path.resolve(), "")))
    return tuple(entries)
