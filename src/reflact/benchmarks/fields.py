"""One record of a data file, with access that says where a missing or odd field is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from reflact.core.errors import DataError
from reflact.core.types import Json


@dataclass(frozen=True, slots=True)
class Fields:
    """One record of a file.

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
        name = next((self.record[key] for key in ("id", "key", "qid", "questionId") if key in self.record), None)
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
            raise self.error(f"the field {name!r} must be a text, not {kind_of(value)}")
        if not value.strip():
            raise self.error(f"the field {name!r} is blank")
        return value

    def optional_text(self, name: str) -> str:
        """Return a text field, `""` where it is missing or null."""
        value = self.record.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(f"the field {name!r} must be a text, not {kind_of(value)}")
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
            raise self.error(f"the field {name!r} must be a list of texts, not {kind_of(value)}")
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
            raise self.error(f"{what} must be an object, not {kind_of(value)}")
        return Fields(value, f"{self.file}:{self.line}" if self.line else self.file, 0, self.number)


def kind_of(value: Json) -> str:
    """Return what a JSON value is, in words for a message."""
    names: dict[type, str] = {str: "a text", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), f"{type(value).__name__} {value!r}"[:60])
