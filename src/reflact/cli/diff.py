"""`reflact diff`: two runs side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from reflact.core.errors import ConfigError

FULL_WIDTH = 400
"""Columns for output that goes to a file or a pipe."""


def diff(
    first: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run directory, finished or not.")],
    second: Annotated[Path, typer.Argument(metavar="RUN_B", help="The run to compare it with.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with everything.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show all ids and the whole diff of the skills.")] = False,
) -> None:
    """Compare two runs: configuration, best skills, and the items that changed sides, with a paired test."""
    from reflact.report.run_diff import diff_runs

    if first.resolve() == second.resolve():
        raise ConfigError(f"{first} and {second} are the same directory; reflact diff takes two runs")
    found = diff_runs(first, second)
    if as_json:
        from reflact.report.run_diff_view import to_json

        sys.stdout.write(json.dumps(to_json(found), indent=2, ensure_ascii=False) + "\n")
        return
    from rich.text import Text

    from reflact.report.console import make_console
    from reflact.report.run_diff_view import lines

    console = make_console(sys.stdout)
    if not console.is_terminal:
        console.width = FULL_WIDTH
    for line, style in lines(found, everything=everything):
        console.print(Text(line, style=style), soft_wrap=not console.is_terminal)
