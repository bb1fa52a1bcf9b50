"""What the dashboard shows, as many lines as the screen has. Imported only where it is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from reflact.report.status_view import run_table, totals, trouble
from reflact.report.text import clean, plural
from reflact.report.watch.state import Dashboard

AROUND = 4
"""Lines around the runs: the head of the table, the chosen run's trouble, the totals, the keys."""

HELP = (
    ("up, down, k, j", "choose a run"),
    ("page up, page down, b, space", "a screen up or down"),
    ("home, end, g, G", "the first, the last run"),
    ("enter, right, 1 to 9", "look at one run: the chosen one, or the one with that number"),
    ("esc, backspace, left", "back to all runs"),
    ("n, p", "in one run: the next, the one before"),
    ("a", "only runs under way, or all"),
    ("s", "order by what needs attention, or by name"),
    ("?", "this help; any key leaves it"),
    ("q, Ctrl-C", "leave; the runs go on"),
)
_LIST_KEYS = "? help · q quit · enter detail · a active only · s order"
_DETAIL_KEYS = "esc back · ? help · q quit · n next · p previous · down, up scroll"


class Screen:
    """Exactly as many lines as the screen has: a body that is cut or scrolled, and lines that stay at the bottom."""

    def __init__(self, body: RenderableType, bottom: Sequence[Text], height: int, down: int = 0) -> None:
        self._body, self._bottom, self._height, self._down = body, list(bottom), height, down

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render."""
        bottom = self._bottom[-self._height :] if self._height > len(self._bottom) else self._bottom[-1:]
        room = max(0, self._height - len(bottom))
        lines = console.render_lines(self._body, options.update(height=None), pad=True)
        # The last lines stay in sight however far one scrolls.
        first = max(0, min(self._down, len(lines) - room))
        lines = Segment.set_shape(lines[first : first + room], options.max_width, room)
        for text in bottom:
            text.truncate(options.max_width, overflow="ellipsis")
            lines += console.render_lines(text, options.update(height=None), pad=True)[:1]
        for number, line in enumerate(lines):
            yield from line
            if number < len(lines) - 1:
                yield Segment.line()


def list_screen(board: Dashboard, width: int, height: int, *, keys: bool) -> Screen:
    """Return the screen of all runs.

    Args:
        board: Where the person is; `rows` is as many as fit.
        width: Columns of the screen.
        height: Lines of the screen.
        keys: Whether keys are read.
    """
    if not board.lines:
        left_out = f"; {plural(board.hidden, 'run')} not shown (a)" if board.hidden else ""
        body: RenderableType = Text(f"no runs{' under way' if board.active_only else ''} yet{left_out}")
    else:
        body = run_table(board.shown, width, board.lines, board.cursor - board.top if keys else -1)
    chosen = board.chosen
    said = trouble(chosen) or clean(chosen.waiting) if chosen is not None and keys else ""
    bottom = [
        Text.assemble((clean(chosen.id, 40), "bold"), ": ", (said, "yellow"))
        if chosen is not None and said
        else Text(),
        totals(board.lines),
        _place(board, keys=keys),
    ]
    return Screen(body, bottom, height)


def help_screen(height: int) -> Screen:
    """Return the screen that explains the keys."""
    table = Table.grid(padding=(0, 3))
    for key, does in HELP:
        table.add_row(Text(key, style="bold"), Text(does))
    return Screen(Group(Text("Keys", style="bold"), Text(), table), [Text("any key goes back", style="dim")], height)


def detail_screen(parts: Sequence[RenderableType], board: Dashboard, height: int) -> Screen:
    """Return the screen of one run."""
    return Screen(Group(*parts), [Text(_DETAIL_KEYS, style="dim")], height, board.down)


def _place(board: Dashboard, *, keys: bool) -> Text:
    above, below = board.top, max(0, len(board.lines) - board.top - board.rows)
    parts = [
        f"{above} above, {below} below" if above or below else "",
        f"{plural(board.hidden, 'run')} not under way hidden" if board.hidden else "",
        _LIST_KEYS if keys else "Ctrl-C to leave",
    ]
    return Text(" · ".join(part for part in parts if part), style="dim")
