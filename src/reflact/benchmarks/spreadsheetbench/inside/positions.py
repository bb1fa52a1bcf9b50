"""Answer positions: which cells of which sheet are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
_QUOTES = "'\"‘’“”`"
_CORNER = re.compile(r"\$?([A-Za-z]{1,3})?\$?(\d{1,7})?")


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, from 1, both ends included.

    Attributes:
        sheet: Name of the sheet; None is the first sheet of the reference workbook.
    """

    sheet: str | None
    first_row: int
    first_column: int
    last_row: int
    last_column: int

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell lies in it."""
        return self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column


def parse(position: str) -> tuple[Area, ...]:
    """Read an answer position.

    Parts are separated by commas outside quotes. A part is a cell or a range, after `sheet!` where a sheet is named:
    `B2`, `A2:B5`, `'My Sheet'!A2:B5`, whole columns `A:G`, whole rows `2:5`, a half-open `BD2:308` (the same column)
    or `A2:B` (to the last row). Stray quotes, blanks and `$` are passed over.

    Raises:
        ValueError: A part is none of these; the message shows it.
    """
    areas = tuple(_area(part) for part in _split(position) if part.strip(_QUOTES + " \t\n"))
    if not areas:
        raise ValueError(f"the answer position {position!r} names no cell")
    return areas


def _split(position: str) -> list[str]:
    """Cut at commas, but not inside a quoted sheet name."""
    parts, quoted = [""], False
    for place, letter in enumerate(position):
        if letter == "'" and (quoted or _opens(position, place)):
            quoted = not quoted
        if letter == "," and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _opens(position: str, place: int) -> bool:
    """Whether a quote begins a quoted name: it stands at the beginning of a part, and another one closes it."""
    before = position[:place].rstrip()
    return (not before or before.endswith(",")) and "'" in position[place + 1 :]


def _area(part: str) -> Area:
    # The last `!`, since a sheet's name may hold one.
    name, mark, cells = part.rpartition("!")
    sheet = _unquoted(name) if mark else None
    first, colon, last = cells.strip(_QUOTES + " \t\n").partition(":")
    top, left = _corner(first, part)
    bottom, right = _corner(last, part) if colon else (top, left)
    if not colon and (top is None or left is None):
        raise ValueError(f"{part.strip()!r} is not a cell or a range")
    if right is None:
        right = left
    if left is None:
        left = right
    columns = sorted((left if left is not None else 1, right if right is not None else LAST_COLUMN))
    rows = sorted((top if top is not None else 1, bottom if bottom is not None else LAST_ROW))
    return Area(sheet, rows[0], columns[0], rows[1], columns[1])


def _unquoted(name: str) -> str:
    return name.strip().strip(_QUOTES).replace("''", "'")


def _corner(text: str, part: str) -> tuple[int | None, int | None]:
    """Return row and column of a corner; what is not said is None."""
    match = _CORNER.fullmatch(text.strip(_QUOTES + " \t\n"))
    if match is None or not any(match.groups()):
        raise ValueError(f"{part.strip()!r} is not a cell or a range")
    letters, digits = match.groups()
    column = None if letters is None else _column(letters)
    row = None if digits is None else int(digits)
    if (column is not None and column > LAST_COLUMN) or (row is not None and not 1 <= row <= LAST_ROW):
        raise ValueError(f"{part.strip()!r} lies outside a sheet")
    return row, column


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def cell_name(row: int, column: int) -> str:
    """Return a cell's name (`B5`)."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row}"
