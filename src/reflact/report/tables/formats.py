"""Tables as Markdown, LaTeX (booktabs), CSV and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reflact.report.tables.escape import csv_text, latex, markdown
from reflact.report.tables.grid import INVALID_COLUMNS, Grid, Raw
from reflact.report.text import clean


def to_markdown(grid: Grid, level: int = 1) -> str:
    """Return a table as Markdown, headed at a level."""
    lines = [f"{'#' * level} {markdown(grid.title)}", "", *(f"{markdown(line)}\n" for line in grid.intro)]
    lines += _markdown_rows(grid.columns, grid.rows)
    if grid.notes:
        lines += ["", *(f"- {markdown(note)}" for note in grid.notes)]
    if grid.invalid:
        lines += ["", f"{'#' * (level + 1)} Not in the table", "", *_markdown_rows(INVALID_COLUMNS, grid.invalid)]
    return "\n".join(lines) + "\n"


def _markdown_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(markdown, columns))} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(map(markdown, row))} |"


def to_latex(grid: Grid) -> str:
    r"""Return a table for `\input`; it needs the packages booktabs, graphicx and textcomp."""
    lines = [
        "% Needs \\usepackage{booktabs,graphicx,textcomp} and \\usepackage[T1]{fontenc}.",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{latex(grid.title)}}}",
        f"\\label{{tab:{_label(grid.name)}}}",
        "\\resizebox{\\linewidth}{!}{%",
        f"\\begin{{tabular}}{{{'l' * len(grid.columns)}}}",
        "\\toprule",
        f"{' & '.join(map(latex, grid.columns))} \\\\",
        "\\midrule",
        *(f"{' & '.join(map(latex, row))} \\\\" for row in grid.rows),
        "\\bottomrule",
        "\\end{tabular}}",
        *(f"\\par\\footnotesize {latex(note)}" for note in grid.notes),
        *(f"\\par\\footnotesize Not in the table: {latex(row[0])}: {latex(row[-1])}" for row in grid.invalid),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _label(name: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in name)


def to_csv(rows: Sequence[Mapping[str, Raw]]) -> str:
    """Return rows as CSV: numbers at full precision, truth values as `true` and `false`, nothing for what is not."""
    stream = io.StringIO()
    if rows:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_csv_cell(value) for value in row.values()] for row in rows)
    return stream.getvalue()


def _csv_cell(value: Raw) -> str:
    if value is None:
        return ""
    return csv_text(value) if isinstance(value, str) else repr(value)


def to_html(grids: Sequence[Grid], title: str, notes: Sequence[str] = ()) -> str:
    """Return a page with tables; it needs nothing from elsewhere."""
    from jinja2 import Environment, FileSystemLoader

    folder = Path(__file__).parent / "templates"
    environment = Environment(loader=FileSystemLoader(folder), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["clean"] = clean
    page: str = environment.get_template("tables.html.j2").render(
        grids=grids, title=title, notes=notes, invalid_columns=INVALID_COLUMNS
    )
    return page + "\n"
