"""Reading a workbook's cells, with formulas that have no saved result told apart from empty cells."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.inside.positions import Area, parse
from reflact.benchmarks.spreadsheetbench.inside.values import NOT_EVALUATED

MOST_UNPACKED = 400 * 1024 * 1024
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
_SHEETS = re.compile(r"xl/worksheets/[^/]+\.xml")
_CHUNK = 1024 * 1024
# What LibreOffice saves for a function that it does not know, and for a formula that it cannot compute.
_UNKNOWN = ("#NAME?", "#VALUE!")

Place = tuple[int, int]
"""Row and column."""
Cells = dict[Place, Any]
"""Values by row and column; a formula without a saved result is `NOT_EVALUATED`."""


class Unreadable(Exception):
    """A workbook that is not read, and why."""


class Unrecalculated(Unreadable):
    """The recalculated copy of a workbook that is not read, and why."""


class Book:
    """A workbook's values.

    Args:
        path: The workbook.
        copy: The same, recalculated: only formulas that have no result in the workbook itself take their value from it,
            since whatever wrote the copy may have changed the form of others.

    Raises:
        Unreadable: It is no workbook, damaged, or unpacks to more than it may.
        Unrecalculated: The same of the copy.
    """

    def __init__(self, path: Path, copy: Path | None = None) -> None:
        has_formulas = _inspect(path)
        self._values = _load(path, values=True)
        # Whether a formula has a result shows only beside the formulas themselves.
        self._formulas = _load(path, values=False) if has_formulas else None
        self._copy = None if copy is None else _copy(copy)

    @property
    def first(self) -> str:
        """Name of the first sheet."""
        names: list[str] = self._values.sheetnames
        if not names:
            raise Unreadable("it has no sheets")
        return names[0]

    def sheet(self, name: str) -> str | None:
        """Return the sheet of that name, if need be without regard to case and blanks at its ends; else None."""
        return find_sheet(self._values.sheetnames, name)

    def cells(self, sheet: str, area: Area) -> Cells:
        """Return the cells of an area that exist in the file."""
        found = {place: cell.value for place, cell in _existing(self._values[sheet]).items() if area.holds(*place)}
        if self._formulas is not None:
            formulas = _existing(self._formulas[sheet])
            for place, cell in _existing(self._values[sheet]).items():
                if not area.holds(*place) or cell.value is not None or place not in formulas:
                    continue
                # A result that is an empty text is read as None too, but with the type of a text.
                if formulas[place].data_type == "f" and cell.data_type != "str":
                    found[place] = NOT_EVALUATED
                    if self._copy is not None and sheet in self._copy.sheetnames:
                        _recalculate(found, place, formulas[place].value, _existing(self._copy[sheet]), area)
        return found


def find_sheet(names: Sequence[str], name: str) -> str | None:
    """Return the one of a workbook's sheets that a name means; None if it has no such."""
    if name in names:
        return name
    return next((known for known in names if known.strip().casefold() == name.strip().casefold()), None)


def _recalculate(found: Cells, own: Place, formula: Any, results: dict[Place, Any], area: Area) -> None:
    """Take the results of one formula from a recalculated copy."""
    places = [own] if own in results else []
    # A formula for a whole range stands in its first cell only, and the others hold nothing before it is computed.
    spread = getattr(formula, "ref", None)
    if spread and ":" in spread:
        (reach,) = parse(spread)
        places += [
            place for place in results if reach.holds(*place) and area.holds(*place) and found.get(place) is None
        ]
    for place in places:
        cell = results[place]
        empty = cell.value is None and cell.data_type != "str"
        found[place] = NOT_EVALUATED if empty or cell.value in _UNKNOWN else cell.value


def _existing(sheet: Any) -> dict[tuple[int, int], Any]:
    # The public ways visit every cell of a rectangle, and a whole column has a million.
    cells: dict[tuple[int, int], Any] = getattr(sheet, "_cells", {})
    return cells


def _load(path: Path, *, values: bool) -> Any:
    openpyxl = import_openpyxl()
    try:
        return openpyxl.load_workbook(path, data_only=values)
    except Exception as error:  # a damaged file may raise anything, and all of it means the same
        raise Unreadable(f"it cannot be read as a workbook ({type(error).__name__})") from error


def _copy(path: Path) -> Any:
    try:
        _inspect(path)
        return _load(path, values=True)
    except Unreadable as error:
        raise Unrecalculated(str(error)) from error


def import_openpyxl() -> Any:
    """Import openpyxl without numpy, which it only needs to know numpy's types and which takes half of the time."""
    import importlib

    sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
    return importlib.import_module("openpyxl")


def _inspect(path: Path) -> bool:
    """Look into the archive before it is unpacked; return whether a sheet has formulas."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED:
                raise Unreadable(f"it unpacks to more than {MOST_UNPACKED // 1024**2} MB")
            return any(_mentions(archive, name) for name in archive.namelist() if _SHEETS.fullmatch(name))
    except Unreadable:
        raise
    except Exception as error:  # so may an archive that is damaged, locked or packed in another way
        raise Unreadable("it is not a workbook") from error


def _mentions(archive: zipfile.ZipFile, name: str) -> bool:
    tail = b""
    with archive.open(name) as stream:
        while chunk := stream.read(_CHUNK):
            if _FORMULA.search(tail + chunk):
                return True
            tail = chunk[-64:]
    return False
