"""`reflact tables`: recompile the result tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflact.core.errors import ConfigError


def tables(
    roots: Annotated[list[Path], typer.Argument(metavar="ROOT...", help="Run directories, sweeps, or folders above.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the tables.")] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="RUN_ID", help="Say which rule decided about a run.")
    ] = None,
    test_max: Annotated[
        bool, typer.Option("--test-max", help="Add the highest test score, labelled as chosen on test.")
    ] = False,
    imports: Annotated[
        Path | None, typer.Option("--import", metavar="CSV", help="Older results for cells that no run fills.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="A rule that is declared harmless.")
    ] = None,
) -> None:
    """Compile the result tables of all runs below the roots: Markdown, CSV, LaTeX and HTML."""
    from reflact.report.outputs import output_folder
    from reflact.report.tables.compile import compile_tables, open_desk, write_tables
    from reflact.report.tables.explain import explain as tell

    if out is None and explain is None:
        raise ConfigError("reflact tables needs --out DIR, the folder for the tables (or --explain RUN_ID)")
    if out is not None:
        output_folder(out)  # asked before everything is read
    desk = open_desk(roots, imports=imports, ignore=ignore if ignore is not None else ())
    if explain is not None:
        typer.echo(tell(desk, explain))
    if out is None:
        return
    compiled = compile_tables(desk, test_max=test_max)
    written = write_tables(compiled, out)
    for note in desk.notes:
        typer.echo(note, err=True)
    for grid in compiled.grids:
        filled = sum(1 for row in grid.raw if row.get("fill"))
        left_out = f", {len(grid.invalid)} left out" if grid.invalid else ""
        typer.echo(f"{grid.title}: {filled} of {len(grid.rows)} rows filled{left_out}")
    typer.echo(f"{len(written)} files in {out}")
