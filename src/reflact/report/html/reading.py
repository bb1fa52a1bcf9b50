"""Reading a run's files for people: what cannot be read is named, and everything else is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reflact.report.numbers import number as number
from reflact.report.numbers import whole as whole
from reflact.report.text import shorten
from reflact.rundir.jsonl import parse_line
from reflact.rundir.quiet import names_quiet, open_quiet, read_quiet

NONSENSE = (TypeError, ValueError, AttributeError, ArithmeticError, LookupError)
"""What comes of files that are JSON but say nonsense: a text for a number, a number beyond all bounds."""
_MOST_PROBLEMS = 20
_LONGEST_JSON = 40_000
_LONGEST_BITS = 4096


class Reader:
    """Reads files below a run's directory and remembers what was wrong with them.

    Attributes:
        problems: What could not be read, each with the file's name.
    """

    def __init__(self, root: Path) -> None:
        self.problems: list[str] = []
        self._root = root

    def object(self, path: Path) -> dict[str, Any]:
        """Return a file's JSON object, an empty one if there is none."""
        data = self._bytes(path)
        if data is None:
            return {}
        value = parse_line(data)
        if value is None:
            self.note(path, "is no JSON object")
            return {}
        return value

    def lines(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield the objects of a file's lines; a torn last line is what a kill leaves, and no problem."""
        if not path.is_file():
            return
        damaged: list[int] = []
        number = 0
        try:
            with open_quiet(path) as file:
                for number, line in enumerate(file, 1):
                    value = parse_line(line)
                    if value is None:
                        damaged.append(number)
                    else:
                        yield value
        except OSError as error:
            self.note(path, f"cannot be read: {error.strerror}")
        damaged = [line for line in damaged if line != number]
        if damaged:
            shown = ", ".join(map(str, damaged[:5])) + (" ..." if len(damaged) > 5 else "")
            self.note(path, f"line {shown}: no JSON object; left out")

    def text(self, path: Path) -> str | None:
        """Return a file's text, None if there is none."""
        data = self._bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def names(self, folder: Path) -> list[str]:
        """Return the sorted names in a folder, none if it is missing."""
        try:
            return names_quiet(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.note(folder, f"cannot be read: {error.strerror}")
            return []

    def note(self, path: Path, problem: str) -> None:
        """Remember what is wrong with a file; the rest of very many problems is left out."""
        name = path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.name
        text = f"{name} {problem}"
        if len(self.problems) < _MOST_PROBLEMS and text not in self.problems:
            self.problems.append(text)

    def _bytes(self, path: Path) -> bytes | None:
        if not path.is_file():  # also what would block, such as a pipe
            return None
        try:
            return read_quiet(path)
        except OSError as error:
            self.note(path, f"cannot be read: {error.strerror}")
            return None


def words(value: object) -> str:
    """Return a text, `""` for None; what is no text as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    # Numbers are what most fields hold, and a formatter of whole documents is slow for them.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < _LONGEST_BITS else "(a number beyond bounds)"
    return pretty(value)


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def pretty(value: object) -> str:
    """Return any JSON value as text for people, of bounded length."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (RecursionError, ValueError):
        return "(nested too deeply to be shown)"
    return shorten(text, _LONGEST_JSON)
