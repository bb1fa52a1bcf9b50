"""Run directories, read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from reflact.config.axes import Axes
from reflact.core.events import CallFailed, CallFinished
from reflact.core.names import RunState
from reflact.report.ledger_lines import Told, explains, last_lines
from reflact.report.spending import Spending
from reflact.report.summaries import Score, SummaryView, read_object
from reflact.report.tables.item_means import folder_of, item_means
from reflact.report.tables.plans import Planned, read_plans, swept_in
from reflact.report.tables.points import DEFAULT, NO_SKILL, Point, Rest, point_of_id, point_of_record
from reflact.rundir.jsonl import parse_line
from reflact.rundir.layout import RunLayout
from reflact.rundir.quiet import open_quiet
from reflact.rundir.view import find_runs, view_run


@dataclass(frozen=True)
class Run:
    """A run directory.

    Attributes:
        path: The directory.
        place: The same as people know it: below which root it was found.
        run_id: Its id.
        state: Its state.
        cause: Why it stopped or failed.
        summary: `summary.json`; empty before the run is complete.
        record: `config.json`; empty if it cannot be read.
        point: Where in the study it belongs, None if nowhere.
    """

    path: Path
    place: str
    run_id: str
    state: RunState
    cause: str
    summary: SummaryView
    record: SummaryView
    point: Point | None = None

    @property
    def complete(self) -> bool:
        """Whether the run has a result."""
        return self.state is RunState.DONE

    @property
    def evaluation(self) -> bool:
        """Whether one skill was evaluated rather than trained."""
        return self.summary.text("kind") == "evaluation"

    @property
    def benchmark(self) -> str:
        """Name of its benchmark."""
        return self.summary.text("benchmark") or self.record.text("benchmark")

    @property
    def simulated(self) -> bool:
        """Whether its numbers come from simulated models."""
        return self.summary.flag("simulated") or self.record.flag("simulated")

    @property
    def sample(self) -> bool:
        """Whether it ran on the made items that ship with the package."""
        return self.summary.flag("sample") or self.record.flag("split", "sample")

    @property
    def seed(self) -> int | None:
        """Its `train.seed`."""
        return self.record.whole("config", "train", "seed")

    @property
    def state_text(self) -> str:
        """Its state, with the cause where there is one."""
        return f"{self.state.value} ({self.cause})" if self.cause and not self.complete else self.state.value

    def score(self, side: str, part: str) -> Score | None:
        """Return the score of the `baseline`, `best` or `final` skill on a part; an evaluated skill is the best."""
        if not self.evaluation:
            return self.summary.score(side, part)
        measured = side == "best" and part == self.summary.text("split", "part")
        return self.summary.score("scores") if measured else None

    def items(self, side: str, part: str) -> dict[str, float]:
        """Return the scores by item of the `baseline` or `best` skill on `selection` or `test`."""
        if (side, part) not in self._items:
            if self.evaluation:
                folder = RunLayout(self.path).evaluation("evaluation")
            else:
                folder = folder_of(self.path, side, part, self.summary.text("best", "origin"), self._best_is_initial)
            self._items[side, part] = item_means(folder)
        return self._items[side, part]

    @cached_property
    def spent_so_far(self) -> tuple[float, float | None]:
        """Tokens and US dollars of its calls, by its events; the latter None where a price is not known."""
        spending = Spending()
        try:
            file = open_quiet(RunLayout(self.path).events)
        except FileNotFoundError:
            return 0.0, 0.0
        with file:
            for line in file:
                event = parse_line(line) if b'"call' in line else None
                if event is not None and event.get("kind") == CallFinished.kind:
                    spending.answered(event)
                elif event is not None and event.get("kind") == CallFailed.kind:
                    spending.failed(event)
        return float(spending.tokens_total), spending.cost_usd

    @cached_property
    def _items(self) -> dict[tuple[str, str], dict[str, float]]:
        return {}

    @cached_property
    def _best_is_initial(self) -> bool:
        # An empty protected block makes another text of the same skill, so the folders decide, not the hash.
        best = RunLayout(self.path).test("best").results
        return self.summary.whole("best", "step") == 0 or (
            not best.exists() and self.summary.get("best", "test") == self.summary.get("baseline", "test")
        )


@dataclass(frozen=True, slots=True)
class Study:
    """Everything below some roots.

    Attributes:
        runs: Runs with a point, in a fixed order.
        strays: Runs that belong to no point.
        planned: Points of plans.
        swept: Keys in which the points of grids differ.
        told: States by run id that sweeps' ledgers tell.
        notes: What a reader of the tables should know about what was (not) found.
    """

    runs: tuple[Run, ...]
    strays: tuple[Run, ...]
    planned: tuple[Planned, ...]
    swept: frozenset[str]
    told: Mapping[str, str]
    notes: tuple[str, ...]


def read_study(roots: Sequence[Path], axes: Axes) -> Study:
    """Read all runs and plans below some roots; archived runs are left out.

    Raises:
        DataError: A plan cannot be read.
    """
    runs = _once([run for root in roots for run in _runs_of(root)])
    folders = dict.fromkeys([*roots, *(parent for run in runs for parent in _between(run, roots))])
    planned, lines = read_plans(list(folders)), last_lines(folders)
    runs = [_explained(run, lines.get(run.path)) for run in runs]
    told = {line.run_id: line.text for line in sorted(lines.values(), key=lambda line: line.time)}
    swept = swept_in(list(folders))
    placed = _placed(runs, {point.run_id: point for point in planned}, swept, axes)
    notes = [f"No runs below {root}." for root in roots if not any(run.path.is_relative_to(root) for run in runs)]
    if not planned:
        notes.append("No plan.json was found: points that were never begun are not listed.")
    kept = tuple(sorted((run for run in placed if run.point), key=lambda run: (run.run_id, run.place)))
    strays = tuple(sorted((run for run in placed if not run.point), key=lambda run: (run.run_id, run.place)))
    return Study(kept, strays, tuple(planned), swept, told, tuple(notes))


def _runs_of(root: Path) -> Iterator[Run]:
    for path in find_runs(root):
        view = view_run(path)
        summary = SummaryView(view.summary if view.summary is not None else {})
        record = SummaryView(read_object(RunLayout(path).config) or {})
        run_id = summary.text("run_id") or record.text("run_id") or path.name
        place = path.name if path == root else str(Path(root.name, path.relative_to(root)))
        yield Run(path, place, run_id, view.state or RunState.FAILED, view.stop_cause or "", summary, record)


def _explained(run: Run, told: Told | None) -> Run:
    if told is None or not explains(told, run.state):
        return run
    return replace(run, state=told.state, cause=told.cause)


def _once(runs: Sequence[Run]) -> list[Run]:
    """Leave out what is reached by two roots, and copies of a complete run."""
    kept: dict[Any, Run] = {}
    for run in runs:
        copied = tuple(run.summary.text(name) for name in ("run_id", "config_hash", "started_at", "finished_at"))
        key = copied if run.complete and all(copied) else run.path.resolve()
        kept.setdefault(key, run)
    return list({run.path.resolve(): run for run in kept.values()}.values())


def _between(run: Run, roots: Sequence[Path]) -> Iterator[Path]:
    for parent in run.path.parents:
        if any(parent.is_relative_to(root) for root in roots):
            yield parent


def _placed(runs: Sequence[Run], planned: Mapping[str, Planned], swept: frozenset[str], axes: Axes) -> list[Run]:
    """Give each run its point: by its id, else by its configuration if that is one of the study's.

    A configuration belongs to the study if beside the axes it sets what the study's DEFAULT runs set: an experiment
    in the same folder that also differs in something else is no repeat of a point. What is left may be a point of a
    grid that was planned.
    """
    found: list[tuple[Run, Point | None, Point | None, Rest]] = []
    for run in runs:
        plan = planned.get(run.run_id)
        named = point_of_id(run.run_id, run.benchmark or (plan.benchmark if plan else ""), axes)
        meant, rest = _meant(run, axes)
        if plan is not None and any(text.partition("=")[0] in swept for text in rest):
            meant = None  # what it sets beside the axes is what its grid sweeps
        found.append((run, named, meant, rest))
    bases = _bases([(named, meant, rest) for run, named, meant, rest in found if not run.evaluation])
    return [
        replace(run, point=named or _by_configuration(run, meant, rest, bases) or _in_grid(planned.get(run.run_id)))
        for run, named, meant, rest in found
    ]


def _by_configuration(run: Run, meant: Point | None, rest: Rest, bases: Mapping[str, set[Rest]]) -> Point | None:
    return meant if meant is not None and (run.evaluation or rest in bases.get(meant.benchmark, ())) else None


def _in_grid(plan: Planned | None) -> Point | None:
    return None if plan is None else plan.grid_point


def _bases(found: Sequence[tuple[Point | None, Point | None, Rest]]) -> dict[str, set[Rest]]:
    """Return what a study sets beside the axes, by benchmark.

    It is what its DEFAULT runs set, by name, else by configuration; without one, what all runs have in common.
    """
    named: dict[str, set[Rest]] = defaultdict(set)
    guessed: dict[str, set[Rest]] = defaultdict(set)
    common: dict[str, set[Rest]] = defaultdict(set)
    for name, meant, rest in found:
        if name is not None and name.group == DEFAULT:
            named[name.benchmark].add(rest)
        elif name is None and meant is not None:
            (guessed if meant.group == DEFAULT else common)[meant.benchmark].add(rest)
    certain = {**common, **guessed}
    return {**{benchmark: rests for benchmark, rests in certain.items() if len(rests) == 1}, **named}


def _meant(run: Run, axes: Axes) -> tuple[Point | None, Rest]:
    """Return the point of a configuration; of evaluations, only one without a skill on the test split is a point."""
    if not run.evaluation:
        return point_of_record(run.record.data, axes)
    if run.summary.text("skill", "name") != "none" or run.summary.text("split", "part") != "test":
        return None, frozenset()
    return Point(NO_SKILL, run.benchmark, axes.label_of_student(run.summary.text("student"))), frozenset()
