"""`reflact plot`: figures for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plot(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="learning, axes, forest or cost.")],
    roots: Annotated[list[Path], typer.Argument(metavar="ROOT...", help="Run directories, sweeps, or folders above.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file; .svg, .png or .pdf.")],
    group: Annotated[list[str] | None, typer.Option("--group", help="Only this table's axis (LR); repeatable.")] = None,
    benchmark: Annotated[list[str] | None, typer.Option("--benchmark", help="Only this benchmark; repeatable.")] = None,
    run: Annotated[
        list[str] | None, typer.Option("--run", metavar="RUN_ID", help="Only this run (learning); repeatable.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="A rule that is declared harmless.")
    ] = None,
    width: Annotated[str, typer.Option("--width", help="column (3.4 inches) or page (7 inches).")] = "column",
) -> None:
    """Draw learning curves, ablation axes, a forest plot against DEFAULT, or the cost frontier.

    The numbers are those of `reflact tables`; needs the extra `plots`.
    """
    from reflact.plots.kinds import Choice
    from reflact.plots.kinds import plot as draw

    choice = Choice(group or (), benchmark or (), run or (), ignore or (), width)
    for note in draw(kind, roots, out, choice):
        typer.echo(note, err=True)
    typer.echo(str(out))
