"""Workbooks that are damaged, incomplete or odd: said before a run, and never a failure of our own."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

from reflact.benchmarks.spreadsheetbench.inside import check_references
from reflact.benchmarks.spreadsheetbench.inside.compare import _verdict
from reflact.benchmarks.spreadsheetbench.inside.positions import parse
from reflact.benchmarks.spreadsheetbench.inside.preview import preview
from reflact.core.names import Part

from .support import book, data_folder, need_bubblewrap, over, record

SHEET = "xl/worksheets/sheet1.xml"


def rewritten(source: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    with zipfile.ZipFile(source) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            kept = change(name, part)
            if kept is not None:
                archive.writestr(name, kept)


def bad_block(path: Path) -> None:
    """Put a block of a kind that does not exist at the beginning of the packed sheet."""
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo(SHEET)
    raw[entry.header_offset + 30 + len(SHEET)] |= 0b111
    path.write_bytes(raw)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "nothing in it": lambda path: path.write_bytes(b""),
    "a text": lambda path: path.write_text("version https://git-lfs.github.com/spec/v1", encoding="utf-8"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "flipped bits": bad_block,
    "a sheet that ends early": lambda path: rewritten(
        path, lambda name, part: part[: len(part) // 2] if name == SHEET else part
    ),
    "no workbook in it": lambda path: rewritten(path, lambda name, part: None if name == "xl/workbook.xml" else part),
    "no sheet in it": lambda path: rewritten(path, lambda name, part: None if name == SHEET else part),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_seen_by_the_check_and_by_the_comparison(tmp_path: Path, damage: str) -> None:
    good, bad = (book(tmp_path / name, {f"A{n}": n for n in range(1, 50)}) for name in ("good.xlsx", "bad.xlsx"))
    DAMAGES[damage](bad)
    areas = parse("A1:A3")
    problem = check_references._problem({"position": "A1:A3", "references": [str(bad)]})
    assert problem.startswith("it ")
    found = _verdict({"golden": str(bad), "produced": str(good)}, areas)
    assert (found["state"], found["note"]) == ("not_evaluable", problem)
    assert _verdict({"golden": str(good), "produced": str(bad)}, areas)["state"] in ("unreadable", "fail")
    assert check_references._problem({"position": "A1:A3", "references": [str(good)]}) == ""


def test_a_reference_without_the_sheet_of_the_answer_is_found(tmp_path: Path) -> None:
    path = book(tmp_path / "golden.xlsx", {"A1": 1}, "Mine")
    for position, problem in {
        "A1": "",
        "Mine!A1": "",
        "'mine '!A1": "",
        "Mine!A1,Yours!B2": "the reference has no sheet 'Yours'",
    }.items():
        assert check_references._problem({"position": position, "references": [str(path)]}) == problem


def test_formulas_without_results_are_found_in_files_with_prefixes(tmp_path: Path) -> None:
    path = book(tmp_path / "golden.xlsx", {"A1": 1, "B1": "=A1*2"})
    tags = {b"<": b"<x:", b"<x:/": b"</x:", b"<x:?": b"<?", b"xmlns=": b"xmlns:x="}

    def prefixed(name: str, part: bytes) -> bytes:
        for plain, own in tags.items() if name == SHEET else ():
            part = part.replace(plain, own)
        return part

    rewritten(path, prefixed)
    problem = check_references._problem({"position": "B1", "references": [str(path)]})
    assert problem == "1 formulas of the reference have no saved result, the first in Sheet1!B1"


def test_damaged_references_are_named_and_all_of_them_end_the_run(tmp_path: Path) -> None:
    need_bubblewrap()
    root = data_folder(tmp_path, [record(name) for name in "abc"])
    for names, level in (("a", "warning"), ("abc", "error")):
        for name in names:
            (root / "spreadsheet" / name / f"1_{name}_golden.xlsx").write_bytes(b"no workbook")
        benchmark = over(root, split="1shot")
        split = benchmark.load()
        (finding,) = benchmark.check(split)
        assert (finding.level, finding.code) == (level, "not_evaluable")
        assert f"the references of {len(names)} items cannot be evaluated" in finding.message
        assert "it is not a workbook" in finding.message
        assert {item.id for part in Part for item in split.parts[part]} == set("abc")


def test_a_preview_shows_formulas_for_ranges_by_their_text(tmp_path: Path) -> None:
    workbook = Workbook()
    workbook.active["A1"] = ArrayFormula("A1:A3", "=SUM(B1:B3*2)")
    workbook.active["B1"] = DataTableFormula("B1:B3")
    workbook.save(tmp_path / "input.xlsx")
    first = list(preview(tmp_path / "input.xlsx"))
    assert first[1] == "  1: =SUM(B1:B3*2) | (data table)"
