"""`reflact status`: where runs are."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reflact.core.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from reflact.report.status import StatusBoard

FULL_WIDTH = 400
"""Columns for output that goes to a file or a pipe: nothing is left out there."""


def status(
    roots: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[ROOT]...", help="Run directories, sweeps, or folders above; without any: outputs."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Look again and again; on a terminal ? tells the keys.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (with --watch one object a line).")] = False,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 2.0,
    archived: Annotated[bool, typer.Option("--archived", help="Show archived runs too.")] = False,
) -> None:
    """Show one line a run: state, progress, scores, trouble, cost. From the files only; nothing in them changes."""
    from reflact.report.status import StatusBoard

    seen = roots or [Path("outputs")]  # where runs go that are not told otherwise
    if not roots and not seen[0].is_dir():
        raise ConfigError("there is no folder outputs here; say where the runs are: reflact status ROOT")
    for root in seen:
        if not root.is_dir():
            raise ConfigError(f"{root} is not a directory; reflact status takes run directories or folders above them")
    board = StatusBoard(seen, archived=archived)
    with suppress(KeyboardInterrupt):  # to leave is nothing unusual
        if as_json:
            _print_json(board, watch, interval)
        elif watch:
            _watch(board, interval)
        else:
            _print_table(board)


def _print_json(board: StatusBoard, watch: bool, interval: float) -> None:
    from reflact.report.status import board_json

    while True:
        now = time.time()
        text = json.dumps(board_json(board.roots, board.refresh(now), now), indent=None if watch else 2)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        if not watch:
            return
        time.sleep(interval)


def _console() -> Console:
    from reflact.report.console import make_console

    console = make_console(sys.stdout)
    if not console.is_terminal:
        console.width = FULL_WIDTH
    return console


def _print_table(board: StatusBoard) -> None:
    from reflact.report.status_view import board as table

    console = _console()
    lines = board.refresh(time.time())
    if not lines:
        console.print(f"no runs below {', '.join(str(root) for root in board.roots)}", soft_wrap=True)
        return
    console.print(table(lines, console.width if console.is_terminal else 0))


def _watch(board: StatusBoard, interval: float) -> None:
    console = _console()
    if not console.is_terminal or console.is_dumb_terminal:
        while True:
            _print_table(board)
            sys.stdout.flush()
            time.sleep(interval)
    from reflact.report.watch.run import watch

    try:
        watch(board, console, interval)
    finally:
        # The screen of before is back; leave the last state on it, if the terminal is still there.
        with suppress(OSError):
            _print_table(board)
