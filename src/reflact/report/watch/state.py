"""Where a person is in the dashboard: which run, which view, how far down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from reflact.report.status import RunLine
from reflact.report.status_view import ORDER
from reflact.report.watch import keys

_ACTIVE = frozenset({"running", "waiting"})


class View(Enum):
    """What is on the screen."""

    LIST = "list"
    DETAIL = "detail"
    HELP = "help"


@dataclass
class Dashboard:
    """The state that keys change; it draws nothing and reads nothing.

    The run under the cursor is known by its directory: runs come, go and change places, the cursor stays on it.

    Attributes:
        lines: The runs in the order shown.
        view: What is on the screen.
        active_only: Leave out runs that are not under way.
        by_name: Order by name instead of by what needs attention.
        rows: Runs that fit on the screen.
        top: The first run on the screen.
        down: Lines that the detail view is scrolled down.
        left: The person wants to leave.
    """

    lines: list[RunLine] = field(default_factory=list)
    view: View = View.LIST
    active_only: bool = False
    by_name: bool = False
    rows: int = 1
    top: int = 0
    down: int = 0
    left: bool = False
    _chosen: str = ""
    _all: Sequence[RunLine] = ()
    _before_help: View = View.LIST

    @property
    def every(self) -> Sequence[RunLine]:
        """All runs of the last look."""
        return self._all

    @property
    def cursor(self) -> int:
        """Place of the chosen run; 0 where it is not there."""
        return next((place for place, line in enumerate(self.lines) if line.path == self._chosen), 0)

    @property
    def chosen(self) -> RunLine | None:
        """The run under the cursor."""
        return self.lines[self.cursor] if self.lines else None

    @property
    def shown(self) -> list[RunLine]:
        """The runs on the screen."""
        return self.lines[self.top : self.top + self.rows]

    @property
    def hidden(self) -> int:
        """Runs that `active_only` leaves out."""
        return len(self._all) - len(self.lines)

    def update(self, lines: Sequence[RunLine], rows: int | None = None) -> None:
        """Take the runs as they are now, and how many fit on the screen."""
        self._all = lines
        self.rows = max(1, self.rows if rows is None else rows)
        place = self.cursor
        kept = [line for line in lines if not self.active_only or line.state in _ACTIVE]
        if not self.by_name:
            kept.sort(key=lambda line: ORDER.index(line.state))
        self.lines = kept
        if not any(line.path == self._chosen for line in kept):
            self._choose(place)  # the run is gone: its neighbour takes its place
        self._scroll()

    def press(self, key: str) -> None:
        """Do what a key asks for; other keys do nothing."""
        if key == "q":
            self.left = True
        elif self.view is View.HELP:
            self.view = self._before_help
        elif key in ("?", "h"):
            self._before_help, self.view = self.view, View.HELP
        elif self.view is View.DETAIL:
            self._in_detail(key)
        else:
            self._in_list(key)

    def _in_list(self, key: str) -> None:
        if key.isdigit() and key != "0":
            if int(key) <= len(self.shown):
                self._choose(self.top + int(key) - 1)
                self._open()
            return
        if key in (keys.ENTER, keys.RIGHT):
            self._open()
        elif key == "a":
            self.active_only = not self.active_only
        elif key == "s":
            self.by_name = not self.by_name
        else:
            self._move(key)
            return
        self.update(self._all)

    def _move(self, key: str) -> None:
        steps = {
            keys.UP: -1, "k": -1, keys.DOWN: 1, "j": 1, keys.PAGE_UP: -self.rows, "b": -self.rows,
            keys.PAGE_DOWN: self.rows, " ": self.rows, keys.HOME: -len(self.lines), "g": -len(self.lines),
            keys.END: len(self.lines), "G": len(self.lines),
        }  # fmt: skip
        if key in steps:
            self._choose(self.cursor + steps[key])
            self._scroll()

    def _in_detail(self, key: str) -> None:
        if key in (keys.ESCAPE, keys.BACK, keys.LEFT, keys.ENTER):
            self.view = View.LIST
        elif key in ("n", "p"):
            self._choose(self.cursor + (1 if key == "n" else -1))
            self.down = 0
            self._scroll()
        elif key in (keys.DOWN, "j", keys.PAGE_DOWN, " "):
            self.down += 1 if key in (keys.DOWN, "j") else self.rows
        elif key in (keys.UP, "k", keys.PAGE_UP, "b"):
            self.down = max(0, self.down - (1 if key in (keys.UP, "k") else self.rows))
        elif key in (keys.HOME, "g"):
            self.down = 0

    def _open(self) -> None:
        if self.lines:
            self.view, self.down = View.DETAIL, 0

    def _choose(self, place: int) -> None:
        if self.lines:
            self._chosen = self.lines[min(max(place, 0), len(self.lines) - 1)].path

    def _scroll(self) -> None:
        """Keep the cursor on the screen and the screen full."""
        self.top = min(self.top, self.cursor)
        self.top = max(self.top, self.cursor - self.rows + 1)
        self.top = max(0, min(self.top, len(self.lines) - self.rows))
