"""Reading compiled tables in tests."""

from __future__ import annotations

from pathlib import Path

from reflact.report.tables.compile import compile_tables, open_desk
from reflact.report.tables.grid import Grid


def grids(*roots: Path, **options) -> dict[str, Grid]:
    test_max = options.pop("test_max", False)
    return {grid.name: grid for grid in compile_tables(open_desk(roots, **options), test_max=test_max).grids}


def row(grid: Grid, value: str, benchmark: str = "docvqa") -> dict:
    """Return the raw row of a value."""
    (found,) = [raw for raw in grid.raw if raw["value"] == value and raw["benchmark"] == benchmark]
    return dict(found)


def text(grid: Grid, value: str, column: str, benchmark: str = "docvqa") -> str:
    """Return the text of a cell."""
    (found,) = [cells for cells in grid.rows if cells[:2] == (benchmark, value)]
    return found[grid.columns.index(column)]


def reasons(grid: Grid) -> dict[str, str]:
    """Return why runs were left out, by id."""
    return {line[0]: line[-1] for line in grid.invalid}
