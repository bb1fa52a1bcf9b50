"""The closing summary as rich renderables. Imported only where it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from reflact.report.advice import advice
from reflact.report.describe import STATUS_ORDER
from reflact.report.diff import skill_diff, style_of
from reflact.report.summaries import Score, SummaryView
from reflact.report.text import clean, count, counted, duration, interval, money, plural, score
from reflact.rundir.layout import RunLayout

ROWS = (("initial", "baseline"), ("best", "best"), ("final", "final"))
PARTS = ("selection", "test")
CELLS = ("hard", "95%", "soft", "scored")
SOFT = CELLS.index("soft")
USAGE = ("calls", "failed_calls", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
WIDE = 110
"""Columns from which both splits stand side by side."""


def closing(summary: SummaryView, layout: RunLayout, width: int) -> Iterator[RenderableType]:
    """Yield the parts of the closing summary in order."""
    yield _headline(summary)
    yield from _validity(summary)
    if summary.text("kind") == "evaluation":
        yield _evaluation(summary)
    else:
        yield _scores(summary, width)
        yield from _gain(summary)
    yield Text()
    for name, text, style in _facts(summary):
        if text:
            yield _line(name, text, style)
    yield from _spent(summary)
    if layout.best_skill.exists():
        yield _line("best skill", _best_skill(summary, layout))
        yield from _edits(layout)
    yield Text()
    for number, sentence in enumerate(advice(summary, str(layout.root))):
        yield _line("next" if number == 0 else "", sentence)


def _line(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"{name:<11}", "dim"), (text, style))


def _headline(summary: SummaryView) -> Text:
    names = [clean(summary.text(name), 40) for name in ("benchmark", "harness", "student")]
    teacher = clean(summary.text("teacher"), 40)
    title = Text.assemble(
        ("\n" + (clean(summary.text("run_id"), 100) or "run"), "bold"),
        (" " + " · ".join(name for name in names if name) + (f" · teacher {teacher}" if teacher else ""), "dim"),
    )
    if summary.flag("simulated"):
        title.append(" SIMULATED", "bold yellow")
    if summary.flag("sample"):
        title.append(" SAMPLE", "bold yellow")
    return title


def _validity(summary: SummaryView) -> Iterator[Text]:
    reason = clean(summary.text("stop_reason"), 40).replace("_", " ")
    wall = summary.number("wall_time_s")
    how = f"done{f' ({reason})' if reason else ''}" + (f" in {duration(wall)}" if wall is not None else "")
    if summary.valid is None:
        yield Text(how)
        return
    line = Text(f"{how} · ")
    line.append("valid" if summary.valid else "INVALID: it fills no table", "green" if summary.valid else "bold red")
    yield line
    for each in summary.reasons:
        yield Text(f"  - {clean(each, 300)}", style="red" if not summary.valid else "")


def _evaluation(summary: SummaryView) -> Text:
    found = summary.score("scores")
    cells = _score_cells(found)
    part = f"{clean(summary.text('split', 'part'), 16)} split"
    skill = clean(summary.text("skill", "name"), 80) or "none"
    soft = f", soft {cells[2]}" if cells[2] else ""
    return Text.assemble(
        f"skill {skill} on the {part}: hard ", (cells[0], "bold"), f" {cells[1]}{soft}, {cells[3]} scored"
    )


def _scores(summary: SummaryView, width: int) -> Table:
    """Return initial, best and final skill on both splits, side by side where there is room."""
    wide = width >= WIDE
    rows = [(name, key, {part: _score_cells(summary.score(key, part)) for part in PARTS}) for name, key in ROWS]
    if _same_skill(summary) or not any(any(cells) for cells in rows[-1][2].values()):
        rows.pop()
    # A column that says nothing is left out: soft scores of benchmarks without partial credit.
    kept = [n for n in range(len(CELLS)) if n != SOFT or any(cells[part][n] for _, _, cells in rows for part in PARTS)]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("\nskill" if wide else "skill", no_wrap=True)
    if not wide:
        table.add_column("split")
    for part in PARTS if wide else ("",):
        for n in kept:
            above = (f"{part}\n" if n == 0 else "\n") if wide else ""
            table.add_column(above + CELLS[n], justify="left" if CELLS[n] == "95%" else "right", no_wrap=True)
    for name, key, cells in rows:
        origin = _origin(summary, key)
        named, style = f"{name}{f' ({origin})' if origin else ''}", "bold" if key == "best" else ""
        first, second = ([cells[part][n] for n in kept] for part in PARTS)
        if wide:
            table.add_row(named, *first, *second, style=style)
        else:
            table.add_row(named, PARTS[0], *first, style=style)
            table.add_row("", PARTS[1], *second, style=style)
    return table


def _same_skill(summary: SummaryView) -> bool:
    best, final = summary.text("best", "skill_sha256"), summary.text("final", "skill_sha256")
    # Where nothing was accepted, the final skill may still hold an empty section for slow updates.
    untouched = summary.text("best", "origin") == summary.text("final", "origin") == "initial"
    return untouched or (bool(best) and best == final)


def _score_cells(found: Score | None) -> list[str]:
    if found is None:
        return [""] * 4
    scored = "" if found.n is None else f"{found.n if found.scored is None else found.scored}/{found.n}"
    soft = "" if found.soft is None or found.soft == found.hard else score(found.soft)
    return [score(found.hard), interval(found.ci95), soft, scored]


def _origin(summary: SummaryView, key: str) -> str:
    if key == "baseline":
        return ""
    origin, step = clean(summary.text(key, "origin"), 24), summary.whole(key, "step")
    return origin.replace("_", " ") or (f"step {step}" if step is not None else "")


def _gain(summary: SummaryView) -> Iterator[Text]:
    delta = summary.number("delta_test")
    if delta is None:
        return
    bounds = interval(summary.get("confidence", "delta_test"))
    p = summary.number("confidence", "mcnemar_p")
    style = "green" if delta > 0 else "red" if delta < 0 else ""
    text = Text.assemble("test, best minus initial: ", (f"{delta:+.3f}", style), f" {bounds}" if bounds else "")
    text.append(" (paired 95%)" if bounds else "")
    if p is not None:
        text.append(f" · McNemar p = {p:.3g}")
    yield text


def _facts(summary: SummaryView) -> Iterator[tuple[str, str, str]]:
    yield "steps", _steps(summary), ""
    total: Counter[str] = Counter()
    for counts in summary.statuses.values():
        total.update(counts)
    bad = sum(total[name] for name in STATUS_ORDER[1:])
    yield "rows", ", ".join(f"{name} {total[name]}" for name in STATUS_ORDER) if total else "", "yellow" if bad else ""
    for phase, counts in summary.statuses.items():
        troubles = {name: counts[name] for name in STATUS_ORDER[1:] if counts[name]}
        if troubles:
            yield "", f"{clean(phase, 24)}: {counted(troubles)} of {counts.total()}", "yellow"
    limits = summary.whole("rate_limits", "count_429")
    if limits:
        waited = summary.number("rate_limits", "wait_s")
        yield "429s", f"{limits}" + (f", waited {duration(waited)}" if waited else ""), "yellow"
    reused = [name for name in ("baseline_selection", "baseline_test") if summary.get("reused", name)]
    if reused:
        yield (
            "reused",
            ", ".join(f"{name.replace('_', ' ')} from {clean(summary.text('reused', name), 120)}" for name in reused),
            "",
        )


def _steps(summary: SummaryView) -> str:
    total = summary.whole("steps", "total")
    if total is None:
        return ""
    parts = [f"{summary.whole('steps', name) or 0} {name}" for name in ("accepted", "rejected")]
    skipped = summary.get("steps", "skipped")
    if isinstance(skipped, dict):
        reasons = {
            str(name).removeprefix("skip_").replace("_", " "): int(number)
            for name, number in skipped.items()
            if isinstance(number, int) and number
        }
        parts.append(f"{sum(reasons.values())} skipped" + (f" ({counted(reasons)})" if reasons else ""))
    elif isinstance(skipped, int):
        parts.append(f"{skipped} skipped")
    return f"{total}: " + ", ".join(parts)


def _spent(summary: SummaryView) -> Iterator[RenderableType]:
    total, cost = summary.number("tokens_total"), summary.number("cost_usd")
    if total is not None:
        yield _line("spent", f"{count(total)} tokens · {money(cost) if cost is not None else 'price not known'}")
    estimated = sum(used["estimated_tokens"] for used in summary.usage_by_role.values())
    if estimated:
        yield _line("", f"{count(estimated)} of these tokens are estimated: a server did not count them")
    if not summary.usage_by_role:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(" " * 9)
    for name in ("role", "calls", "failed", "read", "cached", "written", "reasoning"):
        table.add_column(name, justify="left" if name == "role" else "right", no_wrap=True)
    for role, used in sorted(summary.usage_by_role.items()):
        table.add_row("", clean(role, 16), *(count(used[name]) for name in USAGE))
    yield table


def _best_skill(summary: SummaryView, layout: RunLayout) -> str:
    chars, tokens = summary.whole("best", "skill_chars"), summary.whole("best", "skill_tokens")
    size = [
        f"{count(chars)} characters" if chars is not None else "",
        f"{count(tokens)} tokens" if tokens is not None else "",
    ]
    sizes = ", ".join(part for part in size if part)
    return f"{layout.best_skill}" + (f" ({sizes})" if sizes else "")


def _edits(layout: RunLayout) -> Iterator[Text]:
    lines, left_out = skill_diff(layout.skill(0), layout.best_skill)
    if not lines:
        return
    yield Text()
    for line in lines:
        yield Text(line, style=style_of(line))
    if left_out:
        yield Text(f"({plural(left_out, 'more line')}: diff -u {layout.skill(0)} {layout.best_skill})", style="dim")
