"""A table without a format: texts that each format escapes in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Raw = str | float | int | None
"""A value of the CSV form: numbers at full precision."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table.

    Attributes:
        name: Name of its files.
        title: Heading; says SIMULATED or SAMPLE where that holds.
        intro: Lines above it.
        columns: Heads of its columns.
        rows: Texts of its cells.
        notes: Lines below it.
        invalid: What was left out: run, point, test score, reasons.
        raw: The same rows for CSV.
        raw_invalid: What was left out, for CSV.
    """

    name: str
    title: str
    intro: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    invalid: tuple[tuple[str, ...], ...] = ()
    raw: tuple[Mapping[str, Raw], ...] = field(default=())
    raw_invalid: tuple[Mapping[str, Raw], ...] = field(default=())


INVALID_COLUMNS = ("run", "directory", "benchmark", "value", "best test", "why it is not in the table")
