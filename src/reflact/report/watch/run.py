"""The dashboard's loop: look, draw, wait for a key."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from rich.console import Console
from rich.live import Live

from reflact.report.status import StatusBoard
from reflact.report.watch.detail import detail
from reflact.report.watch.state import Dashboard, View
from reflact.report.watch.terminal import Terminal
from reflact.report.watch.view import AROUND, Screen, detail_screen, help_screen, list_screen

_AT_LEAST = (20, 4)


def watch(board: StatusBoard, console: Console, interval: float, clock: Callable[[], float] = time.time) -> None:
    """Show the runs until the person leaves; the terminal is as before when this returns, also by an exception.

    Args:
        board: The runs.
        console: A terminal.
        interval: Seconds between two looks.
        clock: The time in unix seconds.
    """
    terminal, state = Terminal(_stdin()), Dashboard()
    with terminal.open(), suppress(EOFError):
        live = Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        with live:
            looked = -interval
            while not state.left:
                now = clock()
                width, height = _size(console)
                lines = None
                if time.monotonic() - looked >= interval:
                    lines, looked = board.refresh(now), time.monotonic()
                state.update(state.every if lines is None else lines, height - AROUND)
                live.update(_screen(board, state, now, width, height, keys=terminal.has_keys), refresh=True)
                for key in terminal.wait(looked + interval - time.monotonic()):
                    state.press(key)
                if terminal.suspended:
                    _suspend(terminal, live)


def _screen(board: StatusBoard, state: Dashboard, now: float, width: int, height: int, *, keys: bool) -> Screen:
    chosen = state.chosen
    if state.view is View.HELP:
        return help_screen(height)
    if state.view is View.DETAIL and chosen is not None:
        return detail_screen(detail(chosen, board.progress(chosen.path), now, width), state, height)
    return list_screen(state, width, height, keys=keys)


def _suspend(terminal: Terminal, live: Live) -> None:
    """Do what Ctrl-Z asks for, with the terminal as the shell left it, and take it again afterwards."""
    live.stop()
    terminal.give_back()
    os.kill(os.getpid(), signal.SIGSTOP)
    terminal.suspended = False
    terminal.take()
    live.start(refresh=True)


def _size(console: Console) -> tuple[int, int]:
    """Return columns and lines as they are now, whatever the environment said when the program began."""
    with suppress(OSError, ValueError):
        size = os.get_terminal_size(console.file.fileno())
        if size.columns > 0 and size.lines > 0:
            console.size = console.size.__class__(max(size.columns, _AT_LEAST[0]), max(size.lines, _AT_LEAST[1]))
    return console.width, console.height


def _stdin() -> int:
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):
        return -1  # closed
