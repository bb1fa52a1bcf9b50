"""Reading JSON and JSON Lines files of records, with errors that name file, line and id."""

from __future__ import annotations

import difflib
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.errors import DataError
from reflact.core.types import Json


@dataclass(frozen=True, slots=True)
class Fields:
    """One record of a file, with access that says where a missing or odd field is.

    Attributes:
        record: The JSON object.
        file: Where it was read from, for messages.
        line: Line on which it begins, from 1; 0 where lines mean nothing (Parquet).
        number: Its place in the file, from 1.
    """

    record: Mapping[str, Json]
    file: str
    line: int
    number: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else f"{self.file}, row {self.number}"
        name = next((self.record[key] for key in ("id", "key", "qid") if key in self.record), None)
        return place if name is None else f"{place} (id {name!r})"

    def error(self, message: str) -> DataError:
        """Return an error that begins with the record's place."""
        return DataError(f"{self}: {message}")

    def need(self, name: str) -> Json:
        """Return a field's value.

        Raises:
            DataError: The record has no such field; the message lists the fields it has.
        """
        if name in self.record:
            return self.record[name]
        names = list(self.record)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean to call {near[0]!r} {name!r}?" if near else ""
        raise self.error(f"the field {name!r} is missing; found: {', '.join(names) or 'no fields'}{hint}")

    def text(self, name: str) -> str:
        """Return a field that must be a text with something in it."""
        value = self.need(name)
        if not isinstance(value, str):
            raise self.error(f"the field {name!r} must be a text, not {_kind(value)}")
        if not value.strip():
            raise self.error(f"the field {name!r} is blank")
        return value

    def optional_text(self, name: str) -> str:
        """Return a text field, `""` where it is missing or null."""
        value = self.record.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(f"the field {name!r} must be a text, not {_kind(value)}")
        return value

    def label(self, name: str) -> str:
        """Return a field that names something: a text or a whole number, as text."""
        value = self.need(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that must be a list of texts with at least one that is not blank; blank ones are dropped."""
        value = self.need(name)
        if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
            raise self.error(f"the field {name!r} must be a list of texts, not {_kind(value)}")
        kept = tuple(entry for entry in value if entry.strip())
        if not kept:
            raise self.error(f"the field {name!r} holds no text")
        return kept

    def child(self, name: str) -> Fields:
        """Return a field that must be an object, as fields of its own."""
        return self.within(self.need(name), f"the field {name!r}")

    def within(self, value: Json, what: str) -> Fields:
        """Return an object inside this record as fields that keep the record's place."""
        if not isinstance(value, Mapping):
            raise self.error(f"{what} must be an object, not {_kind(value)}")
        return Fields(value, f"{self.file}:{self.line}" if self.line else self.file, 0, self.number)


def _kind(value: Json) -> str:
    names: dict[type, str] = {str: "a text", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), f"{type(value).__name__} {value!r}"[:60])


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
    except (gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"{path}: not a whole gzip file: {error}") from None


def read_records(path: Path) -> list[Fields]:
    """Read the records of a JSON array (`.json`) or of JSON Lines (`.jsonl`), either also with `.gz`.

    Raises:
        DataError: Naming file and line.
    """
    text = read_text(path)
    name = path.name.removesuffix(".gz")
    values = _lines(text, path) if name.endswith(".jsonl") else _elements(text, path)
    records = []
    for number, (line, value) in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise DataError(f"{path}:{line}: entry {number} must be an object, not {_kind(value)}")
        records.append(Fields(value, str(path), line, number))
    return records


def read_json(path: Path) -> Json:
    """Read one JSON value.

    Raises:
        DataError: Naming file and line.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise _malformed(path, error.lineno, error.msg) from None


def _lines(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    # Not splitlines(): U+2028 and its like are legal inside a JSON text.
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            try:
                yield line, json.loads(content)
            except json.JSONDecodeError as error:
                raise _malformed(path, line, error.msg) from None


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
        except json.JSONDecodeError as error:
            raise _malformed(path, error.lineno, error.msg) from None
        yield line, value
    rest = _skip(text, position + 1)
    if rest < len(text):
        raise _malformed(path, 1 + text.count("\n", 0, rest), "text after the end of the array")


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _malformed(path: Path, line: int, message: str) -> DataError:
    return DataError(f"{path}:{line}: not valid JSON: {message}")
