"""`reflact doctor`: everything that must hold before money is spent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from reflact.report.doctor import Check

STYLES = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def doctor(
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[OVERRIDE]...", help="As for reflact-train.")
    ] = None,
    probe: Annotated[int, typer.Option(min=0, help="Let the student do so many train items for real.")] = 0,
) -> None:
    """Check configuration, data, directory, models and plan: one line a check, and what to do."""
    from reflact.report.console import make_console
    from reflact.report.doctor import examine, exit_code

    console = make_console(sys.stdout)
    checks: list[Check] = []
    for check in examine(overrides or [], probe):
        checks.append(check)
        _show(console, check)
    code = exit_code(checks)
    bad = sum(1 for check in checks if check.level == "failed")
    warned = sum(1 for check in checks if check.level == "warning")
    ending = "all is well" if not bad and not warned else f"{bad} failed, {warned} to look at"
    console.print(ending, style=STYLES["failed"] if bad else STYLES["warning"] if warned else STYLES["ok"])
    raise typer.Exit(int(code))


def _show(console: Console, check: Check) -> None:
    from rich.table import Table
    from rich.text import Text

    if not console.is_terminal:
        # One line a check, whatever its length: for grep and logs.
        console.print(f"{check.level:<8} {check.name:<10} {check.message}", soft_wrap=True)
        return
    line = Table.grid(padding=(0, 1))
    line.add_column(width=8)
    line.add_column(width=10, style="dim")
    line.add_column(overflow="fold")
    line.add_row(Text(check.level, style=STYLES[check.level]), check.name, Text(check.message))
    console.print(line)
