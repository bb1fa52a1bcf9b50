"""Records of data files, the items they stand for, and what must hold between the parts of a split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from reflact.benchmarks.fields import Fields
from reflact.benchmarks.files import read_records
from reflact.core.errors import DataError
from reflact.core.names import Part
from reflact.core.types import Item, Json


@dataclass(frozen=True, slots=True)
class Record:
    """An item and the JSON object that it was read from, which `reflact splits make` writes again.

    Attributes:
        item: The item.
        data: What a part's file holds of it.
        where: Its place, for messages.
    """

    item: Item
    data: Mapping[str, Json]
    where: str


@runtime_checkable
class ItemFormat(Protocol):
    """How a benchmark's items are written in files; with it come split folders, `splits make` and samples."""

    @property
    def name(self) -> str:
        """The benchmark's name."""
        ...

    @property
    def package(self) -> str:
        """The package whose folder `sample` holds the made items."""
        ...

    def parse(self, fields: Fields) -> Record:
        """Read one record of a part's file.

        Raises:
            DataError: Naming the record's place and the field.
        """
        ...

    def read_source(self, path: Path) -> tuple[list[Record], tuple[Path, ...]]:
        """Read the benchmark's own source, in the order from which splits are drawn, and the files it consists of.

        Raises:
            DataError: Naming file, line or id.
        """
        ...


@runtime_checkable
class TableFormat(Protocol):
    """An item format whose parts are CSV files instead of JSON."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order in which they are written; rows may have more."""
        ...


def read_part(form: ItemFormat, path: Path) -> list[Record]:
    """Read a part's file and refuse an empty one and duplicate ids.

    Raises:
        DataError: Naming file, line or id.
    """
    records = [form.parse(fields) for fields in read_records(path)]
    if not records:
        raise DataError(f"{path}: the file holds no items")
    refuse_duplicates(records)
    return records


def refuse_duplicates(records: Sequence[Record]) -> None:
    """Raise `DataError` if an id stands twice."""
    seen: dict[str, str] = {}
    for record in records:
        if record.item.id in seen:
            raise DataError(f"{record.where}: the id stands twice; before: {seen[record.item.id]}")
        seen[record.item.id] = record.where


def refuse_overlaps(parts: Mapping[Part, Sequence[Record]]) -> None:
    """Raise `DataError` if an id stands in more than one part: a tested item must not be trained on."""
    owner: dict[str, tuple[Part, str]] = {}
    clashes: list[str] = []
    for part in Part:
        for record in parts[part]:
            if record.item.id in owner:
                other, where = owner[record.item.id]
                clashes.append(f"{record.item.id!r} in {other.value} ({where}) and {part.value} ({record.where})")
            else:
                owner[record.item.id] = (part, record.where)
    if clashes:
        more = f" and {len(clashes) - 3} more" if len(clashes) > 3 else ""
        raise DataError(f"ids stand in more than one part: {'; '.join(clashes[:3])}{more}")
