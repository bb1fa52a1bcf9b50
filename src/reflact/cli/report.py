"""`reflact report`: one HTML file about runs and their study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflact.report.html.texts import CHARS

_MEGABYTE = 1_000_000


def report(
    roots: Annotated[list[Path], typer.Argument(metavar="ROOT...", help="Run directories, sweeps, or folders above.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write; it is replaced.")],
    archived: Annotated[bool, typer.Option("--archived", help="Take archived runs too.")] = False,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="A rule that is declared harmless.")
    ] = None,
    chars: Annotated[
        int, typer.Option("--chars", min=0, help="Characters kept of a conversation; 0 leaves conversations out.")
    ] = CHARS,
) -> None:
    """Write one HTML file with tables, curves, skills and trajectories; it needs no network and no other file."""
    from reflact.report.html.build import build_report, check_place, write_report
    from reflact.report.text import clean, plural

    check_place(out)
    made = build_report(roots, archived=archived, ignore=ignore if ignore is not None else (), chars=chars)
    write_report(made, out)
    for problem in made.problems:
        typer.echo(clean(problem), err=True)
    size = out.stat().st_size / _MEGABYTE
    typer.echo(f"{out}: {plural(made.runs, 'run')}, {made.rows:,} trajectories, {size:.1f} MB")
