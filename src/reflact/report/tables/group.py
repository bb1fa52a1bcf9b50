"""The table of one group: a row a benchmark and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reflact.config.axes import Axes
from reflact.report.tables import cells
from reflact.report.tables.found import Run
from reflact.report.tables.grid import Grid, Raw
from reflact.report.tables.judge import Judge
from reflact.report.tables.measures import Measures, spending
from reflact.report.tables.paired import Change, holm
from reflact.report.tables.points import DEFAULT, reference_point
from reflact.report.tables.rows import ALIASED, IMPORTED, MEASURED, REUSED, Layout, Row
from reflact.report.text import plural

COLUMNS = (
    "benchmark", "value", "state", "baseline selection", "baseline test", "best selection", "best test",
    "best - baseline on test", "p (baseline)", "best - DEFAULT's best on test",
    "p (DEFAULT)", "accepted steps", "tokens", "cost",
    "wall time", "run",
)  # fmt: skip
HIGHEST = "HIGHEST TEST SCORE (chosen on test)"
_UNREAL = ("simulated: ", "sample: ")
_SIDES = tuple((side, part) for side in ("baseline", "best") for part in ("selection", "test"))


def group_grid(group: str, layout: Layout, judge: Judge, axes: Axes, *, test_max: bool = False) -> Grid:
    """Return the table of a group.

    Args:
        group: The group.
        layout: Which rows there are.
        judge: Who says which runs are valid.
        axes: The axes.
        test_max: Add a column with the highest test score of any skill, labelled as such.
    """
    rows = corrected(layout.rows(group))
    left_out = list(left_out_runs(group, layout, judge))
    return Grid(
        name=group.lower(),
        title=f"{group}{marks([run for row in rows for run in row.runs], left_out)}",
        intro=tuple(axis.doc for axis in axes.axes if axis.group in group.split("+")),
        columns=(*COLUMNS, HIGHEST) if test_max else COLUMNS,
        rows=tuple(tuple(_texts(row, test_max)) for row in rows),
        notes=tuple(_notes(rows, judge, axes)),
        invalid=tuple(invalid_texts(run, reasons) for run, reasons in left_out),
        raw=tuple(raw(row, test_max) for row in rows),
        raw_invalid=tuple(invalid_raw(run, reasons) for run, reasons in left_out),
    )


def corrected(rows: Sequence[Row]) -> list[Row]:
    """Correct p-values over the table: the gains are one family, the differences from DEFAULT another.

    An alias repeats a comparison that its target has already made, and counts only if the target is not in the table.
    """
    done = list(rows)
    for name in ("gain", "versus"):
        values: dict[tuple[Run, ...], float] = {}
        for row in done:
            found: Change | None = getattr(row.measures, name) if row.measures is not None else None
            if found is not None and found.p is not None:
                values[row.runs] = found.p
        fixed = dict(zip(values, holm(list(values.values())), strict=True))
        for place, row in enumerate(done):
            measures = row.measures
            found = getattr(measures, name) if measures is not None else None
            if measures is not None and found is not None and row.runs in fixed:
                change = replace(found, p_holm=fixed[row.runs])
                new = replace(measures, gain=change) if name == "gain" else replace(measures, versus=change)
                done[place] = replace(row, measures=new)
    return done


def left_out_runs(group: str, layout: Layout, judge: Judge) -> Iterator[tuple[Run, list[str]]]:
    """Yield the complete runs that may not fill their cell in a group's table, with the reasons."""
    for shown, filled_by in layout.points(group):
        for run in layout.runs_at(filled_by):
            verdict = judge.verdict(run, shown.group)
            if run.complete and not verdict.valid:
                yield run, verdict.reasons


def marks(shown: Sequence[Run], left_out: Sequence[tuple[Run, Sequence[str]]]) -> str:
    """Return what a title must say: that all runs of the table are simulated, or made samples.

    What was left out because real runs stand in the table does not decide what the table is.
    """
    rest = [run for run, reasons in left_out if not any(reason.startswith(_UNREAL) for reason in reasons)]
    runs = [*shown, *rest]
    if not runs or not all(run.simulated or run.sample for run in runs):
        return ""
    kinds = (("SIMULATED", any(run.simulated for run in runs)), ("SAMPLE", any(run.sample for run in runs)))
    return f" ({', '.join(name for name, holds in kinds if holds)})"


def state_text(row: Row) -> str:
    """Return the state of a row's run, with how the row is filled or that a run was left out."""
    parts = [row.state] if row.state else []
    if row.fill in (REUSED, IMPORTED):
        parts.append(row.fill)
    if row.measures is None and row.invalid:
        parts.append("invalid, see below")
    return ", ".join(parts) or cells.EMPTY


def _texts(row: Row, test_max: bool) -> Iterator[str]:
    measures = row.measures if row.measures is not None else Measures({})
    runs = len(row.runs)
    yield from (row.point.benchmark, row.point.value, state_text(row))
    yield from (cells.estimate(measures.scores.get(key), runs) for key in _SIDES)
    yield from (cells.change(measures.gain), cells.p_value(measures.gain))
    yield from (cells.change(measures.versus), cells.p_value(measures.versus))
    yield cells.steps(measures.accepted, measures.steps)
    yield cells.tokens(measures.tokens, measures.tokens_reused)
    yield cells.cost(measures.cost_usd)
    yield cells.wall(measures.wall_s)
    yield row.label or cells.EMPTY
    if test_max:
        yield cells.EMPTY if measures.highest_test is None else f"{measures.highest_test:.3f}"


def _notes(rows: Sequence[Row], judge: Judge, axes: Axes) -> Iterator[str]:
    compared = sorted({row.point.benchmark for row in rows if row.measures is not None and row.measures.versus})
    if compared:
        wanted = next(ref for row in rows if (ref := reference_point(row.point, axes)) is not None)
        yield f"Compared with the best skills of {', '.join(f'{wanted.group}-{name}' for name in compared)}."
    for row in rows:
        where = f"{row.point.benchmark} {row.point.value}"
        if row.note:
            yield f"{where}: {row.note}"
        measures = row.measures
        if measures is not None and len(row.runs) > 1:
            seeds = ", ".join(map(str, measures.seeds))
            yield f"{where}: mean and standard deviation of {len(row.runs)} runs (train.seed {seeds})."
        if row.runs and row.fill in (MEASURED, REUSED):
            ignored = sorted({name for run in row.runs for name in judge.verdict(run, row.point.group).ignored})
            if ignored:
                yield f"{where}: declared harmless: {', '.join(ignored)}."
    yield from spent_note([run for row in rows if row.fill != ALIASED for run in row.runs])


def spent_note(runs: Sequence[Run], where: str = "in the table") -> Iterator[str]:
    """Yield what runs spent together; work that one did and others reused is in it once."""
    runs = list(dict.fromkeys(runs))
    spent = [spending(run) for run in runs]
    if not spent:
        return
    unfinished = sum(not run.complete for run in runs)
    told = f" ({unfinished} not complete)" if unfinished else ""
    tokens = sum(one.tokens_own for one in spent if one.tokens_own is not None)
    costs = [one.cost_own for one in spent if one.cost_own is not None]
    unknown = len(spent) - len(costs)
    price = cells.cost(sum(costs)) if costs else "no cost known"
    without = f" (of {plural(len(costs), 'run')}; the price of {unknown} is not known)" if costs and unknown else ""
    yield (
        f"Spent by {plural(len(spent), 'run')}{told} {where}, shared work once: {cells.tokens(tokens, 0)} tokens, "
        f"{price}{without}."
    )


def raw(row: Row, test_max: bool) -> Mapping[str, Raw]:
    """Return a row for CSV."""
    measures = row.measures if row.measures is not None else Measures({})
    values: dict[str, Raw] = {
        "group": row.point.group,
        "benchmark": row.point.benchmark,
        "value": row.point.value,
        "state": row.state,
        "fill": row.fill,
        "run_id": row.label.removeprefix("= "),
        "runs": len(row.runs) if row.runs else None,
        "seeds": " ".join(map(str, measures.seeds)),
        "simulated": _flag(row, "simulated"),
        "sample": _flag(row, "sample"),
    }
    for side, part in _SIDES:
        score = measures.scores.get((side, part))
        name = f"{side}_{part}"
        values[name] = score.value if score else None
        values[f"{name}_low"] = score.interval.low if score and score.interval else None
        values[f"{name}_high"] = score.interval.high if score and score.interval else None
        values[f"{name}_n"] = score.n if score else None
        values[f"{name}_sd"] = score.sd if score else None
    values |= {**raw_change("delta", measures.gain), **raw_change(f"delta_{DEFAULT.lower()}", measures.versus)}
    values |= {
        "accepted_steps": measures.accepted,
        "steps": measures.steps,
        "tokens": measures.tokens,
        "tokens_reused": measures.tokens_reused if row.runs else None,
        "cost_usd": measures.cost_usd,
        "cost_reused_usd": measures.cost_reused if row.runs else None,
        "wall_time_s": measures.wall_s,
        "note": row.note,
    }
    return {**values, "highest_test_chosen_on_test": measures.highest_test} if test_max else values


def _flag(row: Row, name: str) -> Raw:
    return str(any(getattr(run, name) for run in row.runs)).lower() if row.runs else None


def raw_change(name: str, change: Change | None) -> dict[str, Raw]:
    """Return a difference for CSV."""
    return {
        name: change.value if change else None,
        f"{name}_low": change.interval.low if change and change.interval else None,
        f"{name}_high": change.interval.high if change and change.interval else None,
        f"{name}_n": change.n if change else None,
        f"{name}_p": change.p if change else None,
        f"{name}_p_holm": change.p_holm if change else None,
        f"{name}_noise": str(change.noise).lower() if change and change.interval else None,
    }


def invalid_texts(run: Run, reasons: Sequence[str]) -> tuple[str, ...]:
    """Return the line below the table of a run that was left out."""
    point = run.point
    score = run.score("best", "test")
    test = cells.EMPTY if score is None or score.hard is None else f"{score.hard:.3f} n={score.scored}"
    benchmark, value = (point.benchmark, point.value) if point else (run.benchmark, "")
    return run.run_id, run.place, benchmark, value, test, "; ".join(reasons)


def invalid_raw(run: Run, reasons: Sequence[str]) -> Mapping[str, Raw]:
    """Return the same for CSV."""
    names = ("run_id", "directory", "benchmark", "value", "best_test", "reasons")
    return dict(zip(names, invalid_texts(run, reasons), strict=True))
