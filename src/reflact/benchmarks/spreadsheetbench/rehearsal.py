"""Simulated replies and the hidden rules of a rehearsal."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from reflact.benchmarks.spreadsheetbench.families import FAMILIES
from reflact.benchmarks.spreadsheetbench.form import cases_of, folder_of
from reflact.benchmarks.spreadsheetbench.inside.positions import cell_name, parse
from reflact.core.hashing import digest
from reflact.core.types import Item, Rule

RULES = (
    Rule("Write computed values into the answer cells, never a formula.", 0.15),
    Rule("Open every sheet by the name that the preview shows.", 0.12),
    Rule("Skip the heading when values are read from a column.", 0.10),
    Rule("Treat empty cells as absent instead of zero.", 0.10),
    Rule("Compare dates as dates, not as their texts.", 0.08),
)

_REPLAY = """import base64, hashlib, zlib

KNOWN = {known}
source = open(INPUT_PATH, "rb").read()
open(OUTPUT_PATH, "wb").write(zlib.decompress(base64.b64decode(KNOWN[hashlib.sha256(source).hexdigest()])))
"""
_WRONG_CELL = """from openpyxl import load_workbook

book = load_workbook(INPUT_PATH)
name = {sheet!r}
sheet = book.worksheets[0] if name is None else book[name] if name in book.sheetnames else book.create_sheet(name)
sheet[{cell!r}] = "nothing of what was asked for"
book.save(OUTPUT_PATH)
"""
_FAILING = """from openpyxl import load_workbook

book = load_workbook(INPUT_PATH)
raise LookupError("the column that the instruction speaks of was not found")
"""


def rehearse(item: Item, correct: bool, root: Path, *, several: bool) -> str:
    """Return a reply whose script does the item right, or wrong.

    A right script does made items honestly. For other items it can only write what the reference holds; that makes the
    reply as large as the references are.

    Args:
        item: The item.
        correct: Which of the two.
        root: The data folder.
        several: Errors are fed back. A wrong script then runs without one, or the conversation would never end.
    """
    if correct:
        family = FAMILIES.get(str(item.data.get("rehearsal")))
        script = _replay(item, root) if family is None else family.script
    else:
        script = _FAILING if _fails(item) and not several else _wrong_cell(item)
    return f"The script works on the cells that the instruction names.\n\n```python\n{script}```\n"


def _fails(item: Item) -> bool:
    return int(digest(["spreadsheetbench", item.id])[:8], 16) % 3 == 0


def _replay(item: Item, root: Path) -> str:
    folder = folder_of(item, root)
    known = {
        case.input_sha256: base64.b64encode(zlib.compress((folder / case.golden).read_bytes())).decode()
        for case in cases_of(item)
    }
    return _REPLAY.format(known=known)


def _wrong_cell(item: Item) -> str:
    area = parse(str(item.data["answer_position"]))[0]
    return _WRONG_CELL.format(sheet=area.sheet, cell=cell_name(area.first_row, area.first_column))
