"""Makes the sample: `python -m reflact.benchmarks.spreadsheetbench.sample_maker FOLDER`.

The folder gets `train.json`, `val.json`, `test.json` and the workbooks. Equal code gives equal cells.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from openpyxl import Workbook

from reflact.benchmarks.spreadsheetbench.casefiles import find_cases
from reflact.benchmarks.spreadsheetbench.families import FAMILIES, Sheets

SIZES = {"train": 8, "val": 6, "test": 8}
_THREE_CASES_EVERY = 5
_TIME = re.compile(rb"(<dcterms:\w+[^>]*>)[^<]*")
_WRITTEN = (2024, 1, 1, 0, 0, 0)


def make(folder: Path) -> None:
    """Write the whole sample."""
    records = list(_records(folder))
    start = 0
    for part, size in SIZES.items():
        text = json.dumps(records[start : start + size], ensure_ascii=False, indent=1)
        (folder / f"{part}.json").write_text(text + "\n", encoding="utf-8")
        start += size


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    names = list(FAMILIES)
    for number in range(sum(SIZES.values())):
        name = names[number % len(names)]
        family, identifier = FAMILIES[name], f"made-{number + 1:02d}"
        place = Path("spreadsheet") / identifier
        (folder / place).mkdir(parents=True, exist_ok=True)
        for case in range(1, (3 if number % _THREE_CASES_EVERY == 0 else 1) + 1):
            source = folder / place / f"{case}_{identifier}_init.xlsx"
            sheets = family.build(Random(f"{name} {number} {case}"))
            source.write_bytes(_frozen(_workbook(sheets)))
            golden = folder / place / f"{case}_{identifier}_golden.xlsx"
            _solve(family.script, source, golden)
        yield {
            "id": identifier,
            "instruction": family.instruction,
            "spreadsheet_path": place.as_posix(),
            "instruction_type": family.kind,
            "answer_position": family.position,
            "answer_sheet": None,
            "cases": [asdict(case) for case in find_cases(folder / place, identifier)],
            "rehearsal": name,
        }


def _workbook(sheets: Sheets) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    packed = BytesIO()
    book.save(packed)
    return packed.getvalue()


def _solve(script: str, source: Path, golden: Path) -> None:
    """Run one of our own scripts."""
    exec(compile(script, "<family>", "exec"), {"INPUT_PATH": source, "OUTPUT_PATH": golden})
    golden.write_bytes(_frozen(golden.read_bytes()))


def _frozen(packed: bytes) -> bytes:
    """Pack a workbook again without the time at which it was made."""
    frozen = BytesIO()
    with zipfile.ZipFile(BytesIO(packed)) as old, zipfile.ZipFile(frozen, "w") as new:
        for name in sorted(old.namelist()):
            content = _TIME.sub(rb"\g<1>2024-01-01T00:00:00Z", old.read(name))
            new.writestr(zipfile.ZipInfo(name, _WRITTEN), content, zipfile.ZIP_DEFLATED, compresslevel=9)
    return frozen.getvalue()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
