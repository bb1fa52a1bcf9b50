"""The main table: benchmark x {no skill, initial skill, best skill} x harness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from reflact.report.tables import cells
from reflact.report.tables.found import Run
from reflact.report.tables.grid import Grid, Raw
from reflact.report.tables.group import invalid_raw, invalid_texts, left_out_runs, marks, raw_change, spent_note
from reflact.report.tables.item_means import over_runs, shared
from reflact.report.tables.judge import Judge
from reflact.report.tables.measures import Estimate
from reflact.report.tables.paired import Change, change, holm
from reflact.report.tables.points import BEST_SETTING, BEST_SKILL, DEFAULT, NO_SKILL
from reflact.report.tables.rows import Layout, Row
from reflact.rundir.layout import RunLayout
from reflact.rundir.quiet import read_quiet

NAME = "main"
COLUMNS = (
    "benchmark", "harness", "skill", "state", "test", "difference from the initial skill", "p", "skill hash",
    "skill tokens", "student", "teacher", "run",
)  # fmt: skip
GROUPS = (NO_SKILL, DEFAULT, BEST_SETTING, BEST_SKILL)
_SKILLS = {DEFAULT: ("initial", "best"), BEST_SETTING: ("initial", "best"), BEST_SKILL: ("source", "best from source")}
_HASH = 12

Initial = Mapping[str, Mapping[str, float]]
"""The initial skill's test scores by item, by agent."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the main table.

    Attributes:
        row: What fills it.
        skill: Which skill was measured.
        side: Its side in the run: `baseline` or `best`.
        change: Its difference from the initial skill, on the same items.
    """

    row: Row
    skill: str
    side: str
    change: Change | None = None

    @property
    def run(self) -> Run | None:
        """A run behind it; None if it is empty or imported."""
        return self.row.runs[0] if self.row.runs else None

    @property
    def agent(self) -> str:
        """The agent that the study compares (`codex`), `""` for the student that is asked directly."""
        return self.row.point.value if self.row.point.group in (BEST_SETTING, BEST_SKILL) else ""

    @property
    def harness(self) -> str:
        """How the student did the tasks."""
        if self.run is None:
            return self.agent
        harness = self.run.summary.text("harness")
        return f"{self.agent} ({harness})" if self.agent and self.run.simulated else harness

    @property
    def test(self) -> Estimate | None:
        """Its score."""
        return self.row.measures.scores.get((self.side, "test")) if self.row.measures is not None else None

    @property
    def items(self) -> dict[str, float]:
        """Its test scores by item."""
        return over_runs([run.items(self.side, "test") for run in self.row.runs])


def main_grid(layout: Layout, judge: Judge) -> Grid | None:
    """Return the main table; None if no run belongs in it."""
    lines = _corrected([line for benchmark in layout.benchmarks for line in _benchmark(benchmark, layout)])
    if not lines:
        return None
    left_out = [pair for group in GROUPS for pair in left_out_runs(group, layout, judge)]
    runs = [run for line in lines for run in line.row.runs]
    return Grid(
        name=NAME,
        title=f"Main results{marks(runs, left_out)}",
        intro=("Scores on the test split. The best skill was chosen on the selection split.",),
        columns=COLUMNS,
        rows=tuple(tuple(_texts(line)) for line in lines),
        notes=(*_notes(lines), *spent_note(runs)),
        invalid=tuple(invalid_texts(run, reasons) for run, reasons in left_out),
        raw=tuple(_raw(line) for line in lines),
        raw_invalid=tuple(invalid_raw(run, reasons) for run, reasons in left_out),
    )


def _benchmark(benchmark: str, layout: Layout) -> list[Line]:
    lines = [
        line
        for group in GROUPS
        for point, filled_by in layout.points(group)
        if point.benchmark == benchmark
        for line in _lines(layout.row(point, filled_by))
    ]
    initial = {line.agent: line.items for line in reversed(lines) if line.skill == "initial" and line.run is not None}
    return [_compared(line, initial) for line in lines]


def _lines(row: Row) -> Iterator[Line]:
    if row.point.group == NO_SKILL:
        yield Line(row, "no skill", "best")
        return
    for skill, side in zip(_SKILLS[row.point.group], ("baseline", "best"), strict=True):
        yield Line(row, skill, side)


def _compared(line: Line, initial: Initial) -> Line:
    if line.run is None or line.skill == "initial" or line.agent not in initial:
        return line
    if line.skill == "best" and line.row.measures is not None:
        # The same comparison as in the group's table, so the same interval.
        return replace(line, change=line.row.measures.gain)
    return replace(line, change=change(*shared(initial[line.agent], line.items)))


def _corrected(lines: Sequence[Line]) -> list[Line]:
    family = {place: line.change.p for place, line in enumerate(lines) if line.change and line.change.p is not None}
    fixed = dict(zip(family, holm(list(family.values())), strict=True))
    return [
        replace(line, change=replace(line.change, p_holm=fixed[place])) if line.change and place in fixed else line
        for place, line in enumerate(lines)
    ]


def _skill(line: Line) -> tuple[str, int | None]:
    """Return the hash of the skill and its length in tokens, where the run tells them."""
    run = line.run
    if run is None:
        return "", None
    if run.evaluation:
        empty = run.summary.whole("skill", "skill_chars") == 0
        return run.summary.text("skill", "skill_sha256"), 0 if empty else None
    if line.side == "best":
        return run.summary.text("best", "skill_sha256"), run.summary.whole("best", "skill_tokens")
    path = RunLayout(run.path).skill(0)
    # The same estimate as in summaries: four bytes a token.
    return run.record.text("skill_init", "sha256"), ceil(len(read_quiet(path)) / 4) if path.is_file() else None


def _state(line: Line) -> str:
    parts = [line.row.state, line.row.fill if line.row.fill == "imported" else ""]
    if line.row.measures is None and line.row.invalid:
        parts.append("invalid, see below")
    return ", ".join(part for part in parts if part) or cells.EMPTY


def _texts(line: Line) -> Iterator[str]:
    sha256, tokens = _skill(line)
    yield from (line.row.point.benchmark, line.harness or cells.EMPTY, line.skill, _state(line))
    yield cells.estimate(line.test, len(line.row.runs))
    yield from (cells.change(line.change), cells.p_value(line.change))
    yield sha256[:_HASH] or cells.EMPTY
    yield cells.EMPTY if tokens is None else str(tokens)
    yield from (_model(line, role) or cells.EMPTY for role in ("student", "teacher"))
    yield line.row.label or cells.EMPTY


def _model(line: Line, role: str) -> str:
    if line.run is None or (line.run.evaluation and role == "teacher"):
        return ""
    return line.run.summary.text(role)


def _notes(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        runs = line.row.runs
        if len(runs) > 1 and line.side == "best":
            yield f"{line.row.point.benchmark}, {line.row.label}: mean and standard deviation of {len(runs)} runs."


def _raw(line: Line) -> Mapping[str, Raw]:
    sha256, tokens = _skill(line)
    test = line.test
    return {
        "benchmark": line.row.point.benchmark,
        "harness": line.harness,
        "skill": line.skill,
        "state": line.row.state,
        "fill": line.row.fill,
        "test": test.value if test else None,
        "test_low": test.interval.low if test and test.interval else None,
        "test_high": test.interval.high if test and test.interval else None,
        "test_n": test.n if test else None,
        "test_sd": test.sd if test else None,
        **raw_change("delta_initial", line.change),
        "skill_sha256": sha256,
        "skill_tokens": tokens,
        "student": _model(line, "student"),
        "teacher": _model(line, "teacher"),
        "run_id": line.row.label,
        "runs": len(line.row.runs) if line.row.runs else None,
        "simulated": str(any(run.simulated for run in line.row.runs)).lower() if line.row.runs else None,
        "sample": str(any(run.sample for run in line.row.runs)).lower() if line.row.runs else None,
    }
