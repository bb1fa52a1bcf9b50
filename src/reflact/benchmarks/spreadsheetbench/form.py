"""SpreadsheetBench items in files: the records of `dataset.json`, and where an item's workbooks are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from reflact.benchmarks.fields import Fields
from reflact.benchmarks.files import read_records
from reflact.benchmarks.records import Record
from reflact.benchmarks.spreadsheetbench.casefiles import CaseFiles, find_cases, problem_of
from reflact.benchmarks.spreadsheetbench.inside.positions import parse
from reflact.core.errors import DataError
from reflact.core.types import Item, Json

DATASET = "dataset.json"
_SHOWN = 5


class SpreadsheetFormat:
    """Reads items and resolves their folders."""

    name = "spreadsheetbench"
    package = "reflact.benchmarks.spreadsheetbench"

    def parse(self, fields: Fields) -> Record:
        """Read an item; files are not looked for."""
        identifier, instruction = fields.label("id"), fields.text("instruction")
        position = fields.text("answer_position")
        try:
            parse(position)
        except ValueError as error:
            raise fields.error(f"the field 'answer_position' is not understood: {error}") from error
        data = {
            "spreadsheet_path": _relative(fields, identifier),
            "answer_position": position,
            "answer_sheet": fields.optional_text("answer_sheet") or None,
            "cases": [asdict(case) for case in _cases(fields)],
        }
        if "rehearsal" in fields.record:
            data["rehearsal"] = fields.text("rehearsal")
        kind = fields.optional_text("instruction_type")
        item = Item(identifier, instruction, task_type=kind, data=data)
        return Record(
            item, {"id": identifier, "instruction": instruction, "instruction_type": kind, **data}, str(fields)
        )

    def read_source(self, path: Path) -> tuple[list[Record], tuple[Path, ...]]:
        """Read `dataset.json` of a data folder (or that file itself) and resolve every item's folder."""
        file = path / DATASET if path.is_dir() else path
        if not file.is_file():
            raise DataError(
                f"{path}: there is no {DATASET}; `spreadsheetbench` reads the folder that holds it. Name that folder "
                "with env.data_root, or try the items that ship with reflact: env.sample=true"
            )
        records = [self.parse(fields) for fields in read_records(file)]
        if not records:
            raise DataError(f"{file}: the file holds no items")
        items = resolve([record.item for record in records], file.parent)
        return [
            Record(item, {**record.data, "cases": item.data["cases"]}, record.where)
            for item, record in zip(items, records, strict=True)
        ], (file,)


def resolve(items: Sequence[Item], root: Path) -> list[Item]:
    """Return the items with their cases; files that are already known are compared with their hashes.

    Raises:
        DataError: Naming the items whose folder does not resolve; no item is ever left out silently.
    """
    problems: dict[str, str] = {}
    resolved = []
    for item in items:
        folder = folder_of(item, root)
        known = cases_of(item)
        try:
            cases = known or find_cases(folder, item.id)
            wrong = next(filter(None, (problem_of(folder, case) for case in known)), "")
        except ValueError as error:
            cases, wrong = (), str(error)
        if wrong:
            problems[item.id] = wrong
        data = {**item.data, "cases": [asdict(case) for case in cases]}
        resolved.append(Item(item.id, item.question, item.gold, item.task_type, data))
    if problems:
        raise DataError("\n".join(_report(problems, len(items), root)))
    return resolved


def folder_of(item: Item, root: Path) -> Path:
    """Return an item's folder."""
    return root / str(item.data["spreadsheet_path"])


def cases_of(item: Item) -> tuple[CaseFiles, ...]:
    """Return an item's cases, none before they are resolved."""
    return tuple(CaseFiles(**case) for case in item.data["cases"])


def _report(problems: Mapping[str, str], total: int, root: Path) -> Iterator[str]:
    names = ", ".join(map(repr, list(problems)[:_SHOWN])) + (" ..." if len(problems) > _SHOWN else "")
    yield (
        f"the workbooks of {len(problems)} of {total} items are not in {root} as they should be: {names}. "
        f"env.data_root must name the folder that holds {DATASET} and spreadsheet/. The first of them:"
    )
    for name, problem in list(problems.items())[:_SHOWN]:
        yield f"  {name!r}: {problem}"


def _relative(fields: Fields, identifier: str) -> str:
    """Return the item's folder below the data folder; a path that leads out of it is refused."""
    said = fields.optional_text("spreadsheet_path") or f"spreadsheet/{identifier}"
    path = PurePosixPath(said)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise fields.error(f"the field 'spreadsheet_path' must stay inside the data folder, not {said!r}")
    return str(path)


def _cases(fields: Fields) -> Iterator[CaseFiles]:
    value: Json = fields.record.get("cases")
    if value is None:
        return
    if not isinstance(value, list):
        raise fields.error("the field 'cases' must be a list")
    for entry in value:
        case = fields.within(entry, "a case")
        names = {name: case.text(name) for name in ("input", "golden", "input_sha256", "golden_sha256")}
        if any("/" in names[name] for name in ("input", "golden")):
            raise fields.error("a case's files must be names without folders")
        yield CaseFiles(**names)
