"""Reading JSON, JSON Lines and CSV files of records, with errors that name file, line and id."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reflact.benchmarks.csv_files import parse_rows
from reflact.benchmarks.fields import Fields, kind_of
from reflact.core.errors import DataError
from reflact.core.types import Json

NO_JSON = (ValueError, RecursionError)
"""What JSON that cannot be read raises: also brackets without end, and integers of thousands of digits."""

# An escape of half a character, which JSON allows and no file or request can carry.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_text(path: Path) -> str:
    """Read a UTF-8 file, unpacked if its name ends in `.gz`; a byte order mark is dropped.

    Raises:
        DataError: The file is missing, a folder, not UTF-8 or not gzip.
    """
    try:
        raw = path.read_bytes()
        data = gzip.decompress(raw) if path.suffix == ".gz" else raw
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder, a file was expected") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: byte {error.start} is not valid") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path}: not a whole gzip file: {error}") from None


def read_records(path: Path) -> list[Fields]:
    """Read the records of a JSON array (`.json`), of JSON Lines (`.jsonl`) or of CSV (`.csv`), each also with `.gz`.

    Raises:
        DataError: Naming file and line.
    """
    text = read_text(path)
    name = path.name.removesuffix(".gz")
    if name.endswith(".csv"):
        return parse_rows(text, path)
    values = _lines(text, path) if name.endswith(".jsonl") else _elements(text, path)
    doubtful = _HALF.search(text) is not None
    records = []
    for number, (line, value) in enumerate(values, start=1):
        if doubtful:
            _refuse_halves(value, path, line)
        if not isinstance(value, dict):
            raise DataError(f"{path}:{line}: entry {number} must be an object, not {kind_of(value)}")
        records.append(Fields(value, str(path), line, number))
    return records


def read_json(path: Path) -> Json:
    """Read one JSON value.

    Raises:
        DataError: Naming file and line.
    """
    text = read_text(path)
    try:
        value: Json = json.loads(text)
    except NO_JSON as error:
        raise _malformed(path, *_where(error, 1)) from None
    if _HALF.search(text) is not None:
        _refuse_halves(value, path, 1)
    return value


def _lines(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    # Not splitlines(): U+2028 and its like are legal inside a JSON text.
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            try:
                yield line, json.loads(content)
            except NO_JSON as error:
                raise _malformed(path, line, _where(error, line)[1]) from None


def _elements(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the elements of a JSON array with the line on which each begins."""
    decoder = json.JSONDecoder()
    position, line = _skip(text, 0), 1
    line += text.count("\n", 0, position)
    if text[position : position + 1] != "[":
        raise _malformed(path, line, "a JSON array `[...]` was expected")
    start, position, first = position, position + 1, True
    while True:
        position = _skip(text, position)
        if text[position : position + 1] == "]":
            break
        if not first:
            if text[position : position + 1] != ",":
                raise _malformed(path, 1 + text.count("\n", 0, position), "`,` or `]` was expected")
            position = _skip(text, position + 1)
        line += text.count("\n", start, position)
        start, first = position, False
        try:
            value, position = decoder.raw_decode(text, position)
        except NO_JSON as error:
            raise _malformed(path, *_where(error, line)) from None
        yield line, value
    rest = _skip(text, position + 1)
    if rest < len(text):
        raise _malformed(path, 1 + text.count("\n", 0, rest), "text after the end of the array")


def _refuse_halves(value: Json, path: Path, line: int) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end].encode("unicode_escape").decode("ascii")
        raise DataError(f"{path}:{line}: {half} is half of a pair and no character") from None


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _where(error: ValueError | RecursionError, line: int) -> tuple[int, str]:
    """Return line and cause of a failure; `line` is where the value begins, for those that do not know their own."""
    if isinstance(error, json.JSONDecodeError):
        return error.lineno, error.msg
    return line, "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _malformed(path: Path, line: int, message: str) -> DataError:
    return DataError(f"{path}:{line}: not valid JSON: {message}")
