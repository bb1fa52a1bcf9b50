"""Where runs are, from their files and nothing else: one line a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from reflact.core.errors import DataError, ReflactError
from reflact.core.names import RunState
from reflact.report.describe import waiting_text
from reflact.report.ledger_lines import Told, explains, last_lines
from reflact.report.planned import planned_runs, way_on
from reflact.report.progress import RunProgress
from reflact.report.summaries import SummaryView
from reflact.rundir.events import read_events
from reflact.rundir.layout import RunLayout
from reflact.rundir.view import RunView, find_runs, view_run

SCHEMA_VERSION = 1
SETTLED = frozenset({RunState.DONE, RunState.STOPPED, RunState.FAILED, RunState.ARCHIVED})
_CAN_GO_ON = frozenset({RunState.STOPPED, RunState.FAILED, RunState.STALE})


@dataclass
class RunLine:
    """What is known of one run; also an entry of `reflact status --json` (docs/watching.md).

    Attributes:
        id: The run's id.
        path: Its directory.
        state: One of the states of `RunState`.
        cause: Why it stopped, failed, or ended its training.
        message: The same in words, or what is wrong with its files.
        valid: Whether it may fill a table; None before it is done.
        reasons: Reasons against its validity.
        benchmark, harness, student, teacher: What it runs.
        simulated: Whether its numbers are simulated.
        epoch, epochs, step, steps: Where it is; None where that is not known.
        phase: Folder of the phase under way, or the teacher's stage; `""` if nothing is.
        done, n: Rows of that phase.
        waiting: What the phase waits for, in words.
        scores: `initial`, `current` and `best` on selection, `test_initial`, `test_best` and `test_final`.
        rows: Rows by status over all phases.
        rate_limits: Answers with status 429.
        retries: Repeated attempts by HTTP status or cause.
        rows_per_minute: Over the last minutes.
        last_write_s: Seconds since something was written.
        elapsed_s: Seconds of work.
        eta_s: Seconds to the end at most, at the pace so far.
        tokens: Tokens read and written.
        cost_usd: US dollars; None where a price is not known.
        tokens_most, cost_most_usd: What the plan expected at most; None without a plan, or where nobody knows.
        pid, host: The process that owns it.
        resume: The command that goes on with its whole sweep; `""` for a run of none, and where nothing is to go on.
    """

    id: str
    path: str
    state: str
    cause: str = ""
    message: str = ""
    valid: bool | None = None
    reasons: list[str] = field(default_factory=list)
    benchmark: str = ""
    harness: str = ""
    student: str = ""
    teacher: str = ""
    simulated: bool = False
    epoch: int | None = None
    epochs: int | None = None
    step: int | None = None
    steps: int | None = None
    phase: str = ""
    done: int | None = None
    n: int | None = None
    waiting: str = ""
    scores: dict[str, float | None] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    rate_limits: int | None = None
    retries: dict[str, int] = field(default_factory=dict)
    rows_per_minute: float | None = None
    last_write_s: float | None = None
    elapsed_s: float | None = None
    eta_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    tokens_most: int | None = None
    cost_most_usd: float | None = None
    pid: int | None = None
    host: str | None = None
    resume: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the line as a JSON object."""
        return asdict(self)


class Tracker:
    """Follows one run: reads only what was appended since it looked last."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.layout = RunLayout(root)
        self._run = RunProgress()
        self._offset = 0
        self._problem = ""
        self._view: RunView | None = None
        self._viewed_at = 0.0
        self._seen: tuple[int, ...] = ()

    def line(self, now: float) -> RunLine:
        """Look again.

        Raises:
            OSError: The directory is gone or may not be read.
        """
        view = self._look(now)
        if not view.names:
            raise FileNotFoundError(f"{self.root} is gone")
        if view.summary is None:
            self._read_on()
        line = _common(view, self._problem)
        if line.last_write_s is not None:
            line.last_write_s += now - self._viewed_at
        if view.summary is not None:
            return _finished(line, SummaryView(view.summary))
        return _under_way(line, self._run, now)

    def progress(self) -> RunProgress:
        """Return what the run's events tell, also those of one that is over."""
        self._read_on()
        return self._run

    def _look(self, now: float) -> RunView:
        """View the run; one that is over is viewed again only after something in its directory changed."""
        signature = self._signature()
        if self._view is None or self._view.state not in SETTLED or signature != self._seen:
            self._view, self._seen, self._viewed_at = view_run(self.root), signature, now
        return self._view

    def _signature(self) -> tuple[int, ...]:
        parts: list[int] = []
        for path in (self.root, self.layout.claims, self.layout.events, self.layout.summary):
            try:
                stat = path.stat()
            except OSError:
                parts += [0, 0]
            else:
                parts += [stat.st_mtime_ns, stat.st_size]
        return tuple(parts)

    def _read_on(self) -> None:
        try:
            events, offset = read_events(self.layout.events, self._offset)
        except (ReflactError, OSError) as error:
            self._problem = str(error)
            return
        if offset < self._offset:
            self._run = RunProgress()  # another run took the place of the one that was there
        self._offset, self._problem = offset, ""
        self._run.feed_all(events)


def _common(view: RunView, problem: str) -> RunLine:
    owner = view.claim.owner
    state = view.state or RunState.FAILED
    return RunLine(
        id=view.root.name,
        path=str(view.root),
        state=state.value,
        cause=view.stop_cause or "",
        message=problem or view.stop_message or "",
        last_write_s=view.last_write_s,
        pid=owner.pid if owner else None,
        host=owner.host if owner else None,
    )


def _under_way(line: RunLine, run: RunProgress, now: float) -> RunLine:
    facts = run.facts
    line.id = run.run_id or line.id
    for name in ("benchmark", "harness", "student", "teacher"):
        setattr(line, name, str(facts.get(name) or ""))
    line.simulated = run.simulated
    line.epoch, line.epochs = run.epoch, run.epochs or None
    line.step, line.steps = run.step, run.steps or None
    phase = run.phase
    if phase is not None:
        line.phase, line.done, line.n = phase.name, phase.done, phase.n
    elif run.stage and line.state == RunState.RUNNING:
        line.phase = run.stage
    line.scores = {
        "initial": run.baseline,
        "current": run.current,
        "best": run.best,
        "test_initial": run.test("baseline"),
        "test_best": run.test("best"),
        "test_final": run.test("final"),
    }
    line.rows = dict(run.statuses)
    line.rate_limits, line.retries = run.retries.rate_limits, run.retries.repeated
    line.tokens, line.cost_usd = run.spending.tokens_total, run.spending.cost_usd
    # A process that is gone works no more: its clock stops at its last event.
    alive = line.state == RunState.RUNNING
    line.elapsed_s = run.elapsed_s(now if alive or run.last_at is None else run.last_at)
    if alive:
        line.rows_per_minute, line.eta_s = run.rate.per_minute(now), run.eta_s(now)
        line.waiting = waiting_text(run, phase, now)
        if run.waits_for:
            line.state = RunState.WAITING.value
            line.waiting = f"{run.waits_for} evaluates the initial skill"
    return line


def _finished(line: RunLine, summary: SummaryView) -> RunLine:
    line.id = summary.text("run_id") or line.id
    for name in ("benchmark", "harness", "student", "teacher"):
        setattr(line, name, summary.text(name))
    line.cause = line.cause or summary.text("stop_reason")
    line.simulated = summary.flag("simulated")
    line.valid, line.reasons = summary.valid, summary.reasons
    line.step = line.steps = summary.whole("steps", "total")
    selection = {key: summary.score(key, "selection") for key in ("baseline", "final", "best")}
    test = {key: summary.score(key, "test") for key in ("baseline", "best", "final")}
    hard = {name: found.hard if found else None for name, found in selection.items()}
    line.scores = {"initial": hard["baseline"], "current": hard["final"], "best": hard["best"]}
    line.scores |= {
        f"test_{'initial' if key == 'baseline' else key}": found.hard if found else None for key, found in test.items()
    }
    if summary.text("kind") == "evaluation":
        # One skill on one part: there is no other score to compare with.
        part = "test_" if summary.text("split", "part") == "test" else ""
        line.scores[f"{part}best"] = summary.number("scores", "hard")
    total: Counter[str] = Counter()
    for counts in summary.statuses.values():
        total.update(counts)
    line.rows = dict(total)
    line.rate_limits = summary.whole("rate_limits", "count_429")
    line.elapsed_s = summary.number("wall_time_s")
    line.tokens, line.cost_usd = summary.whole("tokens_total"), summary.number("cost_usd")
    return line


class StatusBoard:
    """Lines of all runs below some roots; each refresh reads only what is new.

    Args:
        roots: Directories of runs, of sweeps, or above them.
        archived: Show archived runs too.
        rescan_s: Seconds between searches for new runs.
    """

    def __init__(self, roots: Sequence[Path], *, archived: bool = False, rescan_s: float = 10.0) -> None:
        self.roots = list(roots)
        self._archived = archived
        self._rescan_s = rescan_s
        self._trackers: dict[Path, Tracker] = {}
        self._planned: dict[str, RunLine] = {}
        self._told: dict[Path, Told] = {}
        self._ways: dict[Path, tuple[frozenset[str], str]] = {}
        self._scanned_at: float | None = None

    def refresh(self, now: float) -> list[RunLine]:
        """Return the lines in the order of roots and names, planned runs of sweeps included."""
        if self._scanned_at is None or now - self._scanned_at >= self._rescan_s:
            self._scan()
            self._scanned_at = now
        lines = []
        for root, tracker in list(self._trackers.items()):
            try:
                lines.append(tracker.line(now))
            except OSError:
                # It was moved away a moment ago (archived); the next search says where it is.
                del self._trackers[root]
        begun = {line.path for line in lines}
        lines += [replace(line) for path, line in self._planned.items() if path not in begun]
        for line in lines:
            self._complete(line)
        return lines

    def _complete(self, line: RunLine) -> None:
        """Add what the plan and the ledger of the run's sweep know of it."""
        planned, told = self._planned.get(line.path), self._told.get(Path(line.path))
        if planned is not None:
            line.tokens_most, line.cost_most_usd = planned.tokens_most, planned.cost_most_usd
        if told is not None and explains(told, line.state):
            line.state, line.cause, line.message = told.state.value, told.cause, told.message
        place = Path(line.path)
        ids, command = self._ways.get(place.parent, (frozenset(), ""))
        line.resume = command if line.state in _CAN_GO_ON and place.name in ids else ""

    def progress(self, path: str) -> RunProgress | None:
        """Return what the events of a run tell; None for one that has not begun."""
        tracker = self._trackers.get(Path(path))
        return None if tracker is None else tracker.progress()

    def _scan(self) -> None:
        found: dict[Path, Tracker] = {}
        for root in self.roots:
            for run in find_runs(root, archived=self._archived):
                place = run.resolve()
                found[place] = self._trackers.get(place) or Tracker(place)
        self._trackers = found
        self._planned = {
            str(point.path): RunLine(
                id=point.run_id,
                path=str(point.path),
                state=RunState.PLANNED.value,
                benchmark=point.benchmark,
                tokens_most=point.tokens,
                cost_most_usd=point.cost_usd,
            )
            for root in self._sweeps()
            for point in planned_runs(root)
        }
        self._ways = {root: way_on(root) for root in self._sweeps()}
        try:
            self._told = last_lines(self._sweeps())
        except DataError:
            self._told = {}  # a damaged ledger hides no run

    def _sweeps(self) -> list[Path]:
        """Return the folders that may be roots of sweeps: those that were given, and those right above runs."""
        above = [path.parent for path in self._trackers if path not in {root.resolve() for root in self.roots}]
        return list(dict.fromkeys([*(root.resolve() for root in self.roots), *above]))


def board_json(roots: Sequence[Path], lines: Sequence[RunLine], now: float) -> dict[str, Any]:
    """Return the stable form of `reflact status --json`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "time": round(now, 3),
        "roots": [str(root) for root in roots],
        "counts": counts(lines),
        "runs": [line.to_json() for line in lines],
    }


def counts(lines: Sequence[RunLine]) -> dict[str, int]:
    """Return the number of runs in each state, in the order of `RunState`, and of those that are done but invalid."""
    states = Counter(line.state for line in lines)
    result = {state.value: states[state.value] for state in RunState if states[state.value]}
    invalid = sum(1 for line in lines if line.valid is False)
    return {**result, "invalid": invalid} if invalid else result
