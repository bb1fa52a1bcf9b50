"""Workbooks, data folders and students for the tests of SpreadsheetBench."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from reflact.benchmarks.protocol import Benchmark
from reflact.confine import Choice, choose

from ..support import make

Cell = Mapping[str, Any]

DONE = """```python
from openpyxl import load_workbook
book = load_workbook(INPUT_PATH)
{line}
book.save(OUTPUT_PATH)
```"""
DOUBLE = DONE.format(line="sheet = book.active\nsheet['B1'] = sheet['A1'].value * 2")


@cache
def _machine() -> Choice:
    return choose("auto")


def need_bubblewrap() -> None:
    """Skip where model-written code cannot be confined."""
    if not _machine().confinement.confined:
        pytest.skip(f"absent: {_machine().reason}")


def book(path: Path, cells: Cell, *sheets: str) -> Path:
    """Write a workbook; a cell's name may begin with a sheet's (`Two!B2`)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    workbook = Workbook()
    workbook.active.title = sheets[0] if sheets else "Sheet1"
    for name in sheets[1:]:
        workbook.create_sheet(name)
    for place, value in cells.items():
        sheet, _, cell = place.rpartition("!")
        (workbook[sheet] if sheet else workbook.active)[cell] = value
    workbook.save(path)
    return path


def record(name: Any, position: str = "B1", **changes: Any) -> dict[str, Any]:
    """Return an item as `dataset.json` has it."""
    return {
        "id": name,
        "instruction": f"Double A1 into B1 ({name}).",
        "spreadsheet_path": f"spreadsheet/{name}",
        "instruction_type": "Cell-Level Manipulation",
        "answer_position": position,
        "answer_sheet": None,
        **changes,
    }


def data_folder(root: Path, records: Sequence[Mapping[str, Any]] = (), cases: int = 1) -> Path:
    """Write a data folder whose items ask to double A1; with no records, ten of one kind."""
    items = list(records) or [record(f"i{number}") for number in range(10)]
    root.mkdir(parents=True, exist_ok=True)
    (root / "dataset.json").write_text(json.dumps(items), encoding="utf-8")
    for item in items:
        for case in range(1, cases + 1):
            stem = root / "spreadsheet" / str(item["id"]) / f"{case}_{item['id']}"
            book(Path(f"{stem}_init.xlsx"), {"A1": 20 + case})
            book(Path(f"{stem}_golden.xlsx"), {"A1": 20 + case, "B1": 40 + 2 * case})
    return root


def over(root: Path, **env: Any) -> Benchmark:
    """Return the benchmark over a data folder."""
    return make("spreadsheetbench", data_root=str(root), **env)


def three(root: Path, *, cases: int = 1, position: str = "B1", **env: Any) -> Benchmark:
    """Return the benchmark over three items of one kind, one in each part."""
    data_folder(root, [record(name, position) for name in "abc"], cases)
    return over(root, split="1shot", **env)
