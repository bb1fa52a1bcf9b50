"""Prints what a workbook looks like: its sheets, their sizes, and their first rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.inside.reading import import_openpyxl

ROWS, COLUMNS = 5, 20
_SHEETS = 20
_CELL_CHARS = 80


def main() -> None:
    """Print the preview of the workbook that the first argument names."""
    sys.stdout.write("\n".join(preview(Path(sys.argv[1]))))


def preview(path: Path) -> Iterator[str]:
    """Yield the lines of a preview."""
    try:
        book = import_openpyxl().load_workbook(path)
    except Exception as error:  # noqa: BLE001 - what the reader cannot open, a script must open in another way
        yield f"(no preview: openpyxl cannot open the workbook: {type(error).__name__})"
        return
    for sheet in book.worksheets[:_SHEETS]:
        yield f"Sheet {sheet.title!r}: {sheet.max_row} rows, {sheet.max_column} columns ({sheet.dimensions})"
        for row in sheet.iter_rows(max_row=min(ROWS, sheet.max_row), max_col=min(COLUMNS, sheet.max_column)):
            yield f"  {row[0].row}: " + " | ".join(_shown(cell.value) for cell in row)
    left = len(book.sheetnames) - min(len(book.worksheets), _SHEETS)
    if left:
        yield f"({left} more sheets)"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "ref"):
        # A formula for a range is an object, which would be shown as its address. A data table's has no text.
        value = getattr(value, "text", None) or "(data table)"
    text = " ".join(str(value).split())
    return text if len(text) <= _CELL_CHARS else text[: _CELL_CHARS - 1] + "…"


if __name__ == "__main__":
    main()
