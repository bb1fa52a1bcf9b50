"""Results of other days, from a CSV file: they fill cells that no run fills, and are marked."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.config.axes import load_axes
from reflact.config.nearest import suggestion
from reflact.core.errors import DataError
from reflact.engine.stats import wilson
from reflact.report.numbers import number
from reflact.report.tables.measures import Estimate, Measures
from reflact.report.tables.paired import Change
from reflact.report.tables.points import Point, known_groups
from reflact.rundir.short_text import read_short_text

SCORES = {
    "baseline_selection": ("baseline", "selection"),
    "baseline_test": ("baseline", "test"),
    "best_selection": ("best", "selection"),
    "best_test": ("best", "test"),
}
COUNTS = ("n_selection", "n_test", "accepted_steps", "tokens")
AMOUNTS = ("cost_usd", "wall_time_s")
NEEDED = ("group", "benchmark", "value")
_GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]*")
_MOST_BYTES = 50_000_000
RESERVED = ("main", "tables")
"""Names of the files that hold the main table, and all tables."""
COLUMNS = (*NEEDED, "run_id", *SCORES, *COUNTS, *AMOUNTS, "source")


@dataclass(frozen=True, slots=True)
class Imported:
    """A result that was brought in.

    Attributes:
        point: Where it belongs.
        run_id: What the run was called, `""` if that is not known.
        source: Where it comes from.
        measures: Its numbers.
    """

    point: Point
    run_id: str
    source: str
    measures: Measures

    @property
    def is_result(self) -> bool:
        """Whether it tells how the best skill did on the test split, so that the run need not be done again."""
        return ("best", "test") in self.measures.scores


def read_imports(path: Path) -> list[Imported]:
    """Read a CSV file; `COLUMNS` may be in any order, all but the first three may be missing or empty.

    Raises:
        ConfigError: It cannot be read, or is wrong; file, line and column are named.
    """
    text = read_short_text(path, "the file of older results", _MOST_BYTES, "give a CSV file").removeprefix("\ufeff")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    header = [name.strip() for name in reader.fieldnames or ()]
    for name in header:
        if name not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise DataError(f"{path}: there is no column {name!r}{suggestion(name, COLUMNS)}; there are {known}")
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise DataError(f"{path}: the column {missing[0]!r} is missing")
    reader.fieldnames = header
    found: dict[Point, Imported] = {}
    written = {group.lower(): group for group in known_groups(load_axes())}
    for row in _rows(reader, path):
        entry = _entry(row, f"{path}, line {reader.line_num}")
        _require_own_file(entry.point.group, written, f"{path}, line {reader.line_num}")
        if entry.point in found:
            raise DataError(f"{path}, line {reader.line_num}: {entry.point} is there twice; import one result a cell")
        found[entry.point] = entry
    return list(found.values())


def _require_own_file(group: str, written: dict[str, str], where: str) -> None:
    """Make sure that a group's table has files of its own: they are called by it, in lower case."""
    if group.lower() in RESERVED:
        raise DataError(f"{where}: group={group!r}: files of that name hold other tables; call the group otherwise")
    known = written.setdefault(group.lower(), group)
    if known != group:
        raise DataError(f"{where}: group={group!r} is called {known}; write it so")


def _rows(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str | Any, str | Any]]:
    try:
        yield from reader
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: this is no CSV: {error}") from error


def _entry(row: Mapping[str | None, str | list[str] | None], where: str) -> Imported:
    if None in row:
        raise DataError(f"{where}: more values than columns")
    cells = {str(name): value.strip() for name, value in row.items() if isinstance(value, str) and value.strip()}
    empty = [name for name in NEEDED if name not in cells]
    if empty:
        raise DataError(f"{where}: {empty[0]} is empty")
    if not _GROUP.fullmatch(cells["group"]):  # a table's file is called by it
        raise DataError(f"{where}: group={cells['group']!r}: letters, digits, + - and _ are what a group is made of")
    numbers = {name: _number(cells[name], name, where) for name in (*SCORES, *COUNTS, *AMOUNTS) if name in cells}
    scores = {key: _estimate(numbers, name) for name, key in SCORES.items() if name in numbers}
    before, after = scores.get(("baseline", "test")), scores.get(("best", "test"))
    measures = Measures(
        scores=scores,
        gain=Change(after.value - before.value) if before is not None and after is not None else None,
        accepted=numbers.get("accepted_steps"),
        tokens=numbers.get("tokens"),
        cost_usd=numbers.get("cost_usd"),
        wall_s=numbers.get("wall_time_s"),
    )
    point = Point(cells["group"], cells["benchmark"], cells["value"])
    return Imported(point, cells.get("run_id", ""), cells.get("source", ""), measures)


def _estimate(numbers: Mapping[str, float], name: str) -> Estimate:
    n = numbers.get(f"n_{name.rpartition('_')[2]}")
    count = None if n is None else int(n)
    interval = wilson(numbers[name] * count, count) if count else None
    return Estimate(numbers[name], interval, count)


def _number(text: str, name: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise DataError(f"{where}: {name}={text!r} is no number") from error
    if name in SCORES and not 0 <= value <= 1:
        raise DataError(f"{where}: {name}={text}: scores are means between 0 and 1")
    if number(value) is None or value < 0 or (name in COUNTS[:2] and not value.is_integer()):
        raise DataError(f"{where}: {name}={text} is no such number")
    return value


def by_point(entries: Sequence[Imported]) -> dict[Point, Imported]:
    """Return the entries by their points."""
    return {entry.point: entry for entry in entries}
