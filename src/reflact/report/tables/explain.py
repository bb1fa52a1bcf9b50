"""Which rule decided about a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reflact.config.nearest import suggestion
from reflact.core.errors import ConfigError
from reflact.report.tables.compile import Desk
from reflact.report.tables.found import Run
from reflact.report.tables.judge import Verdict
from reflact.report.text import clean


def explain(desk: Desk, run_id: str) -> str:
    """Return what every rule said of the runs with an id, in each table that they belong to.

    Args:
        desk: What tables are made of.
        run_id: A run's id, or the name of its directory.

    Raises:
        ConfigError: There is no such run.
    """
    every = (*desk.study.runs, *desk.study.strays)
    found = [run for run in every if run_id in (run.run_id, run.path.name, run.place)]
    if found:
        return "\n\n".join("\n".join(_run(run, desk)) for run in found)
    plan = next((point for point in desk.study.planned if point.run_id == run_id), None)
    if plan is not None:
        equal = f", the same run as {plan.same_as}" if plan.same_as else ""
        return clean(f"{run_id}: planned ({plan.state}{equal}{f': {plan.why}' if plan.why else ''}), not begun")
    names = [*(run.run_id for run in every), *(point.run_id for point in desk.study.planned)]
    raise ConfigError(f"there is no run {run_id}{suggestion(run_id, names)}")


def _run(run: Run, desk: Desk) -> Iterator[str]:
    yield clean(f"{run.run_id}  {run.place}  {run.state_text}")
    if run.point is None:
        yield "  belongs to no table: neither its id nor its configuration is a point of the study"
        return
    groups = [run.point.group]
    groups += [group for group in desk.layout.groups if group not in groups and _reused_in(run, group, desk)]
    for group in groups:
        yield from _verdict(group, desk.judge.verdict(run, group), run)


def _reused_in(run: Run, group: str, desk: Desk) -> bool:
    return any(filled_by == run.point for shown, filled_by in desk.layout.points(group) if shown != filled_by)


def _verdict(group: str, verdict: Verdict, run: Run) -> Sequence[str]:
    if verdict.valid:
        end = "fills its cell: no rule speaks against it"
    else:
        end = f"left out, decided by the rule `{verdict.decided_by}`"
    compared = verdict.reference.run_id if verdict.reference is not None and verdict.reference is not run else ""
    lines = [clean(f"  {group}: {end}{f'; compared with {compared}' if compared else ''}")]
    for finding in verdict.findings:
        word = ("ignored" if finding.ignored else "AGAINST") if finding.reasons else "ok"
        if word == "ok":
            lines.append(f"    {'ok':8}{finding.rule}")
        lines += [clean_indented(f"{word:8}{finding.rule}: ", reason) for reason in finding.reasons]
    return lines


def clean_indented(head: str, text: str) -> str:
    """Return a line below a run."""
    return f"    {head}{clean(text)}"
