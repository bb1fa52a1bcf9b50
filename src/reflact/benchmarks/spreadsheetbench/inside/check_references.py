"""Finds references that cannot be compared: formulas saved without a result in the cells of the answer."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.inside.compare import expected_cells, problem_of
from reflact.benchmarks.spreadsheetbench.inside.positions import parse
from reflact.benchmarks.spreadsheetbench.inside.reading import Book, Unreadable

# A formula that no value follows, or an empty one.
_BARE_FORMULA = re.compile(rb"<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|(?!\s*<v))")


def main() -> None:
    """Read `[{id, position, references}]` from standard input and print `{id: problem}`."""
    found = {}
    for item in json.load(sys.stdin):
        problem = _problem(item)
        if problem:
            found[item["id"]] = problem
    json.dump(found, sys.stdout)


def _problem(item: Mapping[str, Any]) -> str:
    areas = parse(item["position"])
    for reference in map(Path, item["references"]):
        try:
            # Only the few files in which something is amiss are read cell by cell.
            problem = problem_of(expected_cells(Book(reference), areas)) if _suspicious(reference) else ""
        except Unreadable as error:
            problem = str(error)
        if problem:
            return problem
    return ""


def _suspicious(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = [entry for entry in archive.infolist() if entry.filename.startswith("xl/worksheets/")]
            return any(_BARE_FORMULA.search(archive.read(entry)) for entry in sheets)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Unreadable("it is not a workbook") from error


if __name__ == "__main__":
    main()
