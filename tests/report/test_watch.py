"""The dashboard's state and keys, without a terminal."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from reflact.report.status import RunLine
from reflact.report.watch import keys
from reflact.report.watch.detail import detail
from reflact.report.watch.keys import Keys
from reflact.report.watch.state import Dashboard, View
from reflact.report.watch.view import AROUND, HELP, Screen, detail_screen, help_screen, list_screen
from tests.report.script import START, Script


def lines(*states: str) -> list[RunLine]:
    return [RunLine(id=f"run-{place:03d}", path=f"/r/{place}", state=state) for place, state in enumerate(states)]


def drawn(screen: Screen, width: int, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(screen, end="")
    return console.file.getvalue().split("\n")  # type: ignore[attr-defined]


@pytest.fixture
def board() -> Dashboard:
    found = Dashboard()
    found.update(lines(*["running"] * 30), 10)
    return found


def test_keys_are_read_whole_and_in_pieces() -> None:
    reader = Keys()
    assert reader.feed(b"j\x1b[A\x1bOB\r") == ["j", keys.UP, keys.DOWN, keys.ENTER]
    assert reader.feed(b"\x1b") == [] and reader.undecided
    assert reader.feed(b"[5") == [] and reader.undecided
    assert reader.feed(b"~q") == [keys.PAGE_UP, "q"]
    assert reader.feed(b"\x1b[15~\x1b[1;5C") == [], "keys that mean nothing here are not taken for letters"
    assert reader.feed(b"\x1b") == [] and reader.flush() == [keys.ESCAPE]
    assert reader.feed(b"\x1bq") == [keys.ESCAPE, "q"]
    assert not reader.undecided and reader.flush() == []


def test_the_cursor_scrolls_the_screen_and_stops_at_both_ends(board: Dashboard) -> None:
    for key, cursor, top in [
        (keys.UP, 0, 0), (keys.DOWN, 1, 0), (keys.PAGE_DOWN, 11, 2), ("G", 29, 20), (keys.DOWN, 29, 20),
        (keys.PAGE_UP, 19, 19), ("g", 0, 0), (keys.END, 29, 20), (keys.HOME, 0, 0), (" ", 10, 1), ("b", 0, 0),
    ]:  # fmt: skip
        board.press(key)
        assert (board.cursor, board.top) == (cursor, top), key


def test_a_larger_screen_stays_full(board: Dashboard) -> None:
    board.press("G")
    board.update(board.every, 25)
    assert board.top == 5 and len(board.shown) == 25
    board.update(board.every, 3)
    assert board.chosen in board.shown


def test_the_cursor_stays_on_its_run_when_others_come_go_and_move(board: Dashboard) -> None:
    board.press("5")
    assert board.view is View.DETAIL and board.chosen is not None and board.chosen.id == "run-004"
    changed = [replace(line, state="failed") if line.id == "run-004" else line for line in board.every]
    board.update(changed[2:], 10)
    assert board.chosen is not None and board.chosen.id == "run-004"
    assert board.cursor == 27, "what needs attention stands behind what is under way"
    board.update(changed[:4], 10)
    assert board.chosen is not None, "the run is gone, a neighbour is chosen"


def test_only_runs_under_way_on_demand(board: Dashboard) -> None:
    board.update(lines("done", "running", "stopped", "waiting"), 10)
    board.press("a")
    assert [line.state for line in board.lines] == ["running", "waiting"] and board.hidden == 2
    board.press("a")
    board.press("s")
    assert [line.id for line in board.lines] == ["run-000", "run-001", "run-002", "run-003"]


def test_help_and_detail_lead_back(board: Dashboard) -> None:
    board.press(keys.ENTER)
    board.press("?")
    assert board.view is View.HELP
    board.press("x")
    assert board.view is View.DETAIL
    board.press("n")
    assert board.chosen is not None and board.chosen.id == "run-001"
    board.press(keys.ESCAPE)
    assert board.view is View.LIST and not board.left
    board.press("q")
    assert board.left


def test_an_empty_dashboard_takes_every_key() -> None:
    board = Dashboard()
    board.update([], 5)
    for key in ("1", keys.ENTER, keys.UP, "G", "a", "s", "n", "?", "x"):
        board.press(key)
    assert board.view is View.LIST
    assert "no runs" in drawn(list_screen(board, 80, 24, keys=True), 80, 24)[0]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (40, 8), (20, 4)])
def test_every_screen_has_exactly_the_lines_of_the_terminal(board: Dashboard, width: int, height: int) -> None:
    script = Script()
    script.begin()
    script.phase("baseline/selection", "selection", 20)
    line = RunLine(
        id="wide 中文 " * 9, path="/somewhere/" + "x" * 300, state="stopped", message="m" * 500, cause="budget"
    )
    board.update([line, *board.every], height - AROUND)
    screens = [
        list_screen(board, width, height, keys=True),
        help_screen(height),
        detail_screen(detail(line, script.run, START + 60, width), board, height),
    ]
    for screen in screens:
        shown = drawn(screen, width, height)
        assert len(shown) == height
        assert all(cell_len(text) <= width for text in shown)


def test_what_is_above_and_below_is_said(board: Dashboard) -> None:
    board.press(keys.PAGE_DOWN)
    board.press(keys.PAGE_DOWN)
    last = drawn(list_screen(board, 100, 14, keys=True), 100, 14)[-1]
    assert last.startswith("11 above, 9 below")
    assert "? help" in last and "q quit" in last


def test_all_keys_of_the_state_are_in_the_help() -> None:
    told = " ".join(keys for keys, _ in HELP)
    for key in ("up", "page down", "home", "enter", "esc", "n, p", "a", "s", "?", "q", "1 to 9"):
        assert key in told


def test_the_detail_names_what_holds_a_run_up_and_what_it_learned_last() -> None:
    script = Script()
    script.begin()
    script.phase("baseline/selection", "selection", 20)
    script.start("steps/step_0001/selection", "selection", 20, step=1, epoch=1)
    script.row("steps/step_0001/selection", "item-7", "error", cause="connection")
    script.retry(429, 2, wait=30.0)
    script.retry(503, 1, wait=0.0, role="teacher", stage="merge")
    line = RunLine(id="LR-orders-8", path="/nowhere", state="running", pid=7, host="here")
    run = script.run
    console = Console(file=io.StringIO(), width=100, color_system=None)
    for part in detail(line, run, script.now, 100):
        console.print(part)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for said in (
        "pid 7 on here", "1 call: student gate, retry 2 of 5 (429), next in 30 s", "teacher merge, retry 1 of 5 (503)",
        "429 ×1", "item item-7 has no score", "connection",
    ):  # fmt: skip
        assert said in text, said


def test_foreign_text_cannot_drive_the_terminal() -> None:
    script = Script(time.time())
    script.begin()
    script.start("baseline/selection", "selection", 20)
    script.row("baseline/selection", "\x1b[2J\x1b]0;gone\x07", "error", cause="\x1b[31mred")
    line = RunLine(id="\x1b[31mred", path="/\x1b[2J", state="running")
    console = Console(file=io.StringIO(), width=100, color_system=None)
    for part in detail(line, script.run, script.now, 100):
        console.print(part)
    assert "\x1b" not in console.file.getvalue()  # type: ignore[attr-defined]
