"""`reflact archive`: move a run directory out of the way."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from reflact.rundir.archive import archive as move


def archive(
    directory: Annotated[list[Path], typer.Argument(help="Run directories.", metavar="DIR")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why, for whoever finds it later.")] = "",
) -> None:
    """Move run directories to `archive/` beside them, with reason and time; nothing is deleted."""
    for root in directory:
        moved = move(root, reason, time.time)
        typer.echo(f"{shlex.quote(str(root))} -> {shlex.quote(str(moved))}")
