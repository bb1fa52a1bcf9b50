"""The table of `reflact status`. Imported only where it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reflact.core.names import RunState
from reflact.report.expected import expected
from reflact.report.render import STATE_STYLES
from reflact.report.run_names import run_names
from reflact.report.status import RunLine, counts
from reflact.report.text import age, clean, count, duration, money, plural, score, shorten

TROUBLES = 12
"""Runs whose trouble is told below the table."""

ORDER = ("running", "waiting", "stale", "failed", "stopped", "refused", "done", "planned", "archived")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: the higher its rank, the sooner it is left out where there is no room.

    `least` is the width that it is taken to need, so that columns do not come and go while numbers grow.
    """

    title: str
    rank: int
    cell: Callable[[RunLine], str]
    right: bool = False
    least: int = 0


def board(lines: Sequence[RunLine], width: int, max_rows: int = 0) -> RenderableType:
    """Return the table, what is wrong with which run, and the totals.

    Args:
        lines: The runs.
        width: Columns of the terminal; 0 shows every column in full.
        max_rows: Most runs shown, those under way first; 0 shows all in their order.
    """
    shown = list(lines)
    if max_rows and len(shown) > max_rows:
        shown = sorted(shown, key=lambda line: ORDER.index(line.state))[:max_rows]
    parts: list[RenderableType] = [_table(shown, width)]
    if len(shown) < len(lines):
        parts.append(Text(f"and {plural(len(lines) - len(shown), 'more run')}", style="dim"))
    troubles = _troubles(lines)
    # Each may take two lines of a terminal; a live view shows them where there is room.
    if not max_rows or len(shown) + 2 * len(troubles) <= max_rows:
        parts += troubles
    parts.append(totals(lines))
    return Group(*parts)


def _table(lines: Sequence[RunLine], width: int) -> Table:
    return run_table(lines, width, lines)


def run_table(lines: Sequence[RunLine], width: int, every: Sequence[RunLine], cursor: int = -1) -> Table:
    """Return the table of some runs.

    Args:
        lines: The runs.
        width: Columns of the terminal; 0 shows every column in full.
        every: The runs that decide how wide columns are, so that they stay where they are while one scrolls.
        cursor: Place of the run that is marked; the first nine are numbered then.
    """
    names = run_names(every)
    cells = {column.title: [column.cell(line) for line in every] for column in COLUMNS}
    cells["run"] = list(names.values())
    columns = _fitting(cells, width - (3 if cursor >= 0 and width else 0))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    if cursor >= 0:
        table.add_column("", width=1, no_wrap=True)
        table.columns[0].style = "dim"
    for column in columns:
        # The id gives way last: a column that was kept has its full width otherwise.
        table.add_column(
            column.title, justify="right" if column.right else "left", no_wrap=True, overflow="ellipsis",
            min_width=None if column.title == "run" else max(map(len, [column.title, *cells[column.title]])),
        )  # fmt: skip
    for place, line in enumerate(lines):
        texts = [names[line.path] if column.title == "run" else column.cell(line) for column in columns]
        row = [Text(text, style=_style(column.title, line)) for column, text in zip(columns, texts, strict=True)]
        number = [Text(str(place + 1) if place < 9 else "")] if cursor >= 0 else []
        table.add_row(*number, *row, style="reverse" if place == cursor else "")
    return table


def _fitting(cells: dict[str, list[str]], width: int) -> list[Column]:
    """Return the columns that fit into the width, leaving out whole ones by rank, and those that say nothing."""
    columns = [column for column in COLUMNS if any(cells[column.title]) or column.rank == 0]
    while width and len(columns) > 2:
        wide = sum(_width(column, cells) + 2 for column in columns) - 2
        if wide <= width:
            break
        columns.remove(max(columns, key=lambda column: column.rank))
    return columns


def _width(column: Column, cells: dict[str, list[str]]) -> int:
    return max(column.least, *map(len, [column.title, *cells[column.title]]))


def _style(title: str, line: RunLine) -> str:
    if title in ("run", "state"):
        return STATE_STYLES.get(line.state, "") if title == "state" else "bold" if line.state == "running" else ""
    if title == "valid":
        return "bold red" if line.valid is False else "green"
    return "yellow" if title in ("429", "empty", "timeout", "refused", "error") else ""


def _state(line: RunLine) -> str:
    cause = line.cause if line.state in (RunState.STOPPED, RunState.FAILED) else ""
    return f"{line.state} ({clean(cause, 16).replace('_', ' ')})" if cause else line.state


def _valid(line: RunLine) -> str:
    text = "" if line.valid is None else "yes" if line.valid else "NO"
    return f"{text} simulated".strip() if line.simulated else text


def _part(done: int | None, total: int | None) -> str:
    return "" if done is None or total is None else f"{done}/{total}"


def _phase(line: RunLine) -> str:
    if line.n is None:
        return clean(line.phase, 24).replace("_", " ")
    # The step has a column of its own.
    name = clean(line.phase, 60).rpartition("/")[2] if line.phase.startswith("steps/") else clean(line.phase, 40)
    return f"{name} {line.done}/{line.n}"


def _scores(prefix: str) -> Callable[[RunLine], str]:
    def cell(line: RunLine) -> str:
        first, last = line.scores.get(f"{prefix}initial"), line.scores.get(f"{prefix}best")
        if first is None:
            return "" if last is None else score(last)
        return f"{score(first)} > {score(last)}"

    return cell


def _number(status: str) -> Callable[[RunLine], str]:
    return lambda line: str(line.rows[status]) if line.rows.get(status) else ""


def _cost(line: RunLine) -> str:
    return money(line.cost_usd) if line.cost_usd is not None and line.tokens else ""


COLUMNS = (
    Column("run", 0, lambda line: clean(line.id, 60)),
    Column("state", 0, _state),
    Column("valid", 3, _valid),
    Column("epoch", 11, lambda line: _part(line.epoch, line.epochs)),
    Column("step", 4, lambda line: _part(line.step, line.steps)),
    Column("phase", 2, _phase, least=18),
    Column("waiting", 13, lambda line: clean(line.waiting, 44)),
    Column("selection", 1, _scores("")),
    Column("test", 6, _scores("test_")),
    Column("429", 5, lambda line: str(line.rate_limits) if line.rate_limits else "", right=True),
    Column("empty", 7, _number("empty"), right=True),
    Column("timeout", 8, _number("timeout"), right=True),
    Column("refused", 12, _number("refused"), right=True),
    Column("error", 8, _number("error"), right=True),
    Column("written", 9, lambda line: age(line.last_write_s), right=True, least=10),
    Column("eta", 3, lambda line: "" if line.eta_s is None else duration(line.eta_s), right=True, least=11),
    Column("tokens", 10, lambda line: count(line.tokens) if line.tokens else "", right=True),
    Column("cost", 10, _cost, right=True),
)


def _troubles(lines: Sequence[RunLine]) -> list[RenderableType]:
    told = [(line, text) for line in lines if (text := trouble(line, alone=False))]
    names = run_names(lines)
    parts: list[RenderableType] = []
    for line, text in told[:TROUBLES]:
        parts.append(Text.assemble((names[line.path], "bold"), f": {text}", overflow="fold"))
    if len(told) > TROUBLES:
        parts.append(Text(f"and {plural(len(told) - TROUBLES, 'more run')} with trouble", style="dim"))
    # All runs of a sweep go on with one command.
    for command in dict.fromkeys(line.resume for line in lines if line.resume):
        parts.append(Text(f"To go on: {clean(command)}", overflow="fold"))
    return [Text(), *parts] if parts else []


def trouble(line: RunLine, *, alone: bool = True) -> str:
    """Return what is wrong with a run and what to do, `""` if nothing is.

    Args:
        line: The run.
        alone: Say also how to go on with its whole sweep.
    """
    if line.valid is False:
        return f"invalid: {'; '.join(clean(reason, 160) for reason in line.reasons) or 'no reason given'}"
    resume = f"; go on with env.out_root={clean(line.path)} run.resume=true"
    if line.resume:
        resume = f"; go on with {clean(line.resume)}" if alone else ""
    if line.state == RunState.STALE:
        owner = f"pid {line.pid} on host {clean(line.host, 40)}" if line.pid is not None else "its process"
        return f"{owner} is gone without a word{resume}"
    if line.state in (RunState.STOPPED, RunState.FAILED):
        why = ": ".join(part for part in (clean(line.cause, 24), shorten(clean(line.message), 200)) if part)
        return f"{why or line.state}{resume}"
    return clean(line.message, 200)


def totals(lines: Sequence[RunLine]) -> Text:
    """Return the sums over all runs."""
    tokens = sum(line.tokens or 0 for line in lines)
    priced = [line.cost_usd for line in lines if line.cost_usd is not None and line.tokens]
    unknown = sum(1 for line in lines if line.tokens and line.cost_usd is None)
    states = ", ".join(f"{number} {state}" for state, number in counts(lines).items())
    parts = [plural(len(lines), "run") + (f": {states}" if states else "")]
    if tokens:
        parts.append(f"{count(tokens)} tokens")
    if priced:
        made_up = sum(line.cost_usd for line in lines if line.cost_usd is not None and line.tokens and line.simulated)
        said = "" if not made_up else " simulated" if made_up == sum(priced) else f", {money(made_up)} of it simulated"
        more = f" and {plural(unknown, 'run')} without a known price" if unknown else ""
        parts.append(money(sum(priced)) + said + more)
    parts += expected(lines)
    limits = sum(line.rate_limits or 0 for line in lines)
    if limits:
        parts.append(f"{limits} answers with status 429")
    return Text(" · ".join(parts), style="dim")
