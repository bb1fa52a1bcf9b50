"""Finds references that cannot be compared.

They hold formulas without a result in the cells of the answer, lack the sheet of the answer, or are damaged.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from reflact.benchmarks.spreadsheetbench.inside.compare import expected_cells, problem_of
from reflact.benchmarks.spreadsheetbench.inside.positions import Area, parse
from reflact.benchmarks.spreadsheetbench.inside.reading import MOST_UNPACKED, Book, Unreadable, find_sheet

# A formula that no value follows, or an empty one.
_BARE_FORMULA = re.compile(
    rb"<(?P<at>(?:\w+:)?)f(?:\s[^>]*)?(?:/>|>[^<]*</(?P=at)f>)\s*"
    rb"(?:<(?P=at)v\s*/>|<(?P=at)v>\s*</(?P=at)v>|(?!\s*<(?P=at)v))"
)


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
            problem = problem_of(expected_cells(Book(reference), areas)) if _suspicious(reference, areas) else ""
        except Unreadable as error:
            problem = str(error)
        if problem:
            return problem
    return ""


def _suspicious(path: Path, areas: Sequence[Area]) -> bool:
    """Whether anything shows that a full reading may not succeed; looking takes a fraction of its time."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED:
                return True
            # Reading compares checksums too.
            parts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".xml")}
    except Exception:  # noqa: BLE001 - whatever it is, the full reading says what
        return True
    sheets = [part for name, part in parts.items() if name.startswith("xl/worksheets/")]
    return not _has_sheets(parts, len(sheets), areas) or any(map(_odd, sheets))


def _has_sheets(parts: Mapping[str, bytes], count: int, areas: Sequence[Area]) -> bool:
    """Whether the sheets that the workbook speaks of are there, and those of the answer among them."""
    try:
        book = ElementTree.fromstring(parts["xl/workbook.xml"])
    except (KeyError, ElementTree.ParseError):
        return False
    names = [str(entry.get("name")) for entry in book.iter() if entry.tag.rpartition("}")[2] == "sheet"]
    wanted = (area.sheet for area in areas if area.sheet is not None)
    return 0 < len(names) <= count and all(find_sheet(names, name) for name in wanted)


def _odd(sheet: bytes) -> bool:
    """Whether a sheet is cut or holds a formula without a result."""
    return not sheet.rstrip().endswith(b"worksheet>") or _BARE_FORMULA.search(sheet) is not None


if __name__ == "__main__":
    main()
