"""Reading and writing CSV files of records, with errors that name file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from reflact.benchmarks.fields import Fields
from reflact.core.errors import DataError
from reflact.core.types import Json


def parse_rows(text: str, path: Path) -> list[Fields]:
    """Read the rows below a header line; every value is a text, and blank lines are passed over.

    Raises:
        DataError: Naming file and line: no header, a column without a name or twice, a row that is longer or shorter
            than the header, or quotes that do not close.
    """
    rows = _rows(text, path)
    line, names = next(rows, (1, []))
    if not names:
        raise DataError(f"{path}: a header line with the names of the columns was expected")
    odd = [name for name in names if not name.strip() or names.count(name) > 1]
    if odd:
        raise DataError(f"{path}:{line}: every column needs a name of its own, not {odd[0]!r}")
    records = []
    for number, (line, cells) in enumerate(rows, start=1):
        if len(cells) != len(names):
            raise DataError(f"{path}:{line}: row {number} has {len(cells)} cells, the header names {len(names)}")
        records.append(Fields(dict(zip(names, cells, strict=True)), str(path), line, number))
    return records


def write_rows(path: Path, rows: Iterable[Mapping[str, Json]], columns: Sequence[str]) -> None:
    """Write rows with the named columns first, then those that only some rows have; what a row lacks is empty."""
    table = list(rows)
    names = list(dict.fromkeys([*columns, *(name for row in table for name in row)]))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\r\n")  # RFC 4180
        writer.writeheader()
        writer.writerows(table)


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line on which it begins: cells in quotes may go over several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"{path}:{line}: not valid CSV: {error}") from None
        if cells:
            yield line, cells
        line = reader.line_num + 1
