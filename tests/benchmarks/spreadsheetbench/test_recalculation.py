"""Formulas without results: computed by an office program, if there is one and it does its work."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.worksheet.formula import ArrayFormula

from reflact.benchmarks.protocol import Benchmark
from reflact.benchmarks.spreadsheetbench.inside.positions import parse
from reflact.benchmarks.spreadsheetbench.inside.reading import Book, Unrecalculated
from reflact.benchmarks.spreadsheetbench.inside.values import NOT_EVALUATED
from reflact.benchmarks.spreadsheetbench.office import AT_ONCE, Office, find_office
from reflact.benchmarks.spreadsheetbench.programs import Programs
from reflact.benchmarks.spreadsheetbench.workshop import Ran, Workshop
from reflact.confine import MIB, ConfinedResult, ConfinementError, Ending, Job, choose
from reflact.core.names import Part
from reflact.core.types import Item, Outcome
from reflact.testing import scripted_session

from .support import DONE, DOUBLE, book, need_bubblewrap, over, three

FORMULA = DONE.format(line="book.active['B1'] = '=A1*2'")
WRONG = DONE.format(line="book.active['B1'] = '=A1*3'")
LITERAL = DONE.format(line="book.active['B1'] = 7")
NOTHING = DONE.format(line="pass")

# Knows products of a cell and a number, and does nothing where it could see or reach more than it should.
FAKE = """
import os, sys
from urllib.parse import urlparse
from openpyxl import load_workbook
source, target = sys.argv[-1], sys.argv[sys.argv.index("--outdir") + 1]
profile = next(word for word in sys.argv if word.startswith("-env:UserInstallation=")).partition("=")[2]
assert "--headless" in sys.argv and urlparse(profile).path.startswith(os.path.dirname(source) + "/")
assert not os.path.exists({data!r}), "the data can be seen"
assert open("/proc/net/dev").read().count(":") == 1, "there is a network"
assert not os.access(__file__, os.W_OK), "the installation can be changed"
book = load_workbook(source)
for sheet in book:
    for row in sheet.iter_rows():
        for cell in row:
            if cell.data_type == "f":
                name, factor = cell.value[1:].split("*")
                cell.value = sheet[name].value * int(factor)
os.mkdir(target)
book.save(os.path.join(target, os.path.basename(source)))
"""
GARBAGE = """
import os, sys
target = sys.argv[sys.argv.index("--outdir") + 1]
os.mkdir(target)
with open(os.path.join(target, os.path.basename(sys.argv[-1])), "wb") as file:
    file.write(b"no workbook")
"""
HANGS = "import time\ntime.sleep(600)\n"
FAILS = "import sys\nsys.exit(81)\n"
SAYS_NOTHING = ""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    need_bubblewrap()
    return tmp_path / "data"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """An installation's folder with what the fake needs."""
    tree = tmp_path / "installed"
    for name in ("openpyxl", "et_xmlfile"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, tree / "site" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tree


def install(tree: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a fake office program first on PATH."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("the fake office program needs /usr/bin/python3")
    program, front = tree / "program" / "soffice", tree.parent / "bin" / "soffice"
    for path in (program, front):
        path.parent.mkdir(parents=True, exist_ok=True)
    (program.parent / "fake.py").write_text(text, encoding="utf-8")
    start = f'PYTHONPATH={tree}/site PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 {program.parent}/fake.py "$@"'
    program.write_text(f"#!/bin/sh\n{start}\n", encoding="utf-8")
    program.chmod(0o755)
    front.symlink_to(program)
    monkeypatch.setenv("PATH", f"{front.parent}:/usr/local/bin:/usr/bin:/bin")
    return program


def hide_office(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave bubblewrap alone on PATH."""
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    folder.mkdir()
    (folder / "bwrap").symlink_to(bwrap)
    monkeypatch.setenv("PATH", str(folder))


def one(data: Path, **env: object) -> tuple[Benchmark, Item]:
    benchmark = three(data, **env)  # type: ignore[arg-type]
    return benchmark, benchmark.load().parts[Part.TRAIN][0]


def do(benchmark: Benchmark, item: Item, reply: str) -> Outcome:
    return asyncio.run(benchmark.converse(item, scripted_session([reply])))


def reference_with_formula(data: Path, item: Item) -> tuple[Benchmark, Item]:
    book(data / "spreadsheet" / item.id / f"1_{item.id}_golden.xlsx", {"A1": 21, "B1": "=A1*2"})
    benchmark = over(data, split="1shot")
    return benchmark, benchmark.load().parts[Part.TRAIN][0]


def test_a_produced_formula_is_computed(data: Path, packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(packages, FAKE.format(data=str(data)), monkeypatch)
    benchmark, item = one(data)
    assert benchmark.settings()["recalculate"] == "LibreOffice"
    outcome = do(benchmark, item, FORMULA)
    assert (outcome.hard, outcome.extra["recalculated"]) == (1.0, [["produced"]])
    outcome = do(benchmark, item, WRONG)
    assert outcome.hard == 0.0
    assert outcome.fail_reason is not None
    assert outcome.fail_reason.endswith("first Sheet1!B1, which holds a number.")
    assert "not_recalculated" not in outcome.extra


def test_nothing_is_computed_without_need(data: Path, packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(packages, FAILS, monkeypatch)
    outcome = do(*one(data), DOUBLE)
    assert outcome.hard == 1.0
    assert not {"recalculated", "not_recalculated"} & set(outcome.extra)


def test_a_reference_is_computed_and_stays_as_it_is(
    data: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(packages, FAKE.format(data=str(data)), monkeypatch)
    benchmark, item = reference_with_formula(data, one(data)[1])
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    (finding,) = benchmark.check(benchmark.load())
    assert "LibreOffice is asked for missing results" in finding.message
    for reply, score, done in (
        (FORMULA, 1.0, ["golden", "produced"]),
        (DOUBLE, 1.0, ["golden"]),
        (NOTHING, 0.0, ["golden"]),
        (LITERAL, 0.0, ["golden"]),
    ):
        outcome = do(benchmark, item, reply)
        assert (outcome.hard, outcome.extra["recalculated"]) == (score, [done])
        assert outcome.extra["not_evaluable"] == 0
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FAILS, "LibreOffice failed: it ended with exit code 81"),
        (SAYS_NOTHING, "LibreOffice failed: it left no workbook: its folder is gone"),
        (GARBAGE, "of what LibreOffice left, it is not a workbook"),
    ],
)
def test_a_failed_conversion_leaves_things_as_without(
    text: str, problem: str, data: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(packages, text, monkeypatch)
    benchmark, item = one(data)
    outcome = do(benchmark, item, FORMULA)
    assert (outcome.hard, outcome.extra["not_recalculated"]) == (0.0, [f"produced: {problem}"])
    assert outcome.fail_reason is not None
    assert "Formulas written by a script have no result" in outcome.fail_reason
    outcome = do(*reference_with_formula(data, item), DOUBLE)
    assert (outcome.hard, outcome.extra["not_evaluable"]) == (0.0, 1)
    assert outcome.extra["not_recalculated"] == [f"golden: {problem}"]


def test_a_program_that_hangs_is_ended(data: Path, packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(packages, HANGS, monkeypatch)
    _, item = one(data)
    confinement = choose("auto").confinement
    office = find_office("auto", confinement)
    assert office is not None
    shop = Workshop(Programs(confinement, 2, 512 * MIB), data, 20.0, replace(office, seconds=0.5))
    produced = book(data.parent / "p.xlsx", {"A1": 21, "B1": "=A1*2"}).read_bytes()
    (verdict,) = asyncio.run(shop.judge(item, [Ran(produced)]))
    assert (verdict.state, verdict.recalculated) == ("fail", ())
    assert verdict.not_recalculated == "produced: LibreOffice failed: it did not end within 0.5 s"


def test_absent_and_off_are_told_apart_and_compute_nothing(
    data: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(packages, FAKE.format(data=str(data)), monkeypatch)
    said = [one(data)[0].settings()["recalculate"], one(data, recalculate="off")[0].settings()["recalculate"]]
    assert do(*one(data, recalculate="off"), FORMULA).hard == 0.0
    hide_office(data.parent / "bare", monkeypatch)
    benchmark, item = one(data)
    assert [*said, benchmark.settings()["recalculate"]] == ["LibreOffice", "off", "none"]
    outcome = do(benchmark, item, FORMULA)
    assert outcome.hard == 0.0
    assert not {"recalculated", "not_recalculated"} & set(outcome.extra)


def test_the_version_is_recorded(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = install(packages, FAILS, monkeypatch)
    (program.parent / "bootstraprc").write_text("[Bootstrap]\nProductKey=LibreOffice 7.4\n", encoding="utf-8")
    (program.parent / "versionrc").write_text("[Version]\nbuildid=40(Build:2)\n", encoding="utf-8")
    office = find_office("auto", choose("off").confinement)
    assert office is not None
    assert office.record == "LibreOffice 7.4 40(Build:2)"


class Counting:
    """A confinement that counts what runs at the same time."""

    name, confined = "counting", True
    now = most = runs = 0

    async def run(self, job: Job) -> ConfinedResult:
        self.now, self.runs = self.now + 1, self.runs + 1
        self.most, number = max(self.most, self.now), self.runs
        await asyncio.sleep(0.01)
        self.now -= 1
        (folder,) = (mount.source for mount in job.mounts if mount.writable)
        (folder / "out").mkdir()
        (folder / "out" / "book.xlsx").write_bytes(b"%d" % number)
        return ConfinedResult(Ending.EXITED, 0, b"", b"", 0.0)


def test_few_conversions_run_at_once_and_references_are_kept(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", {"A1": 1})
    counting = Counting()
    office = Office(Path("/usr/bin/soffice"), counting)

    async def several() -> list[bytes | str]:
        return await asyncio.gather(*(office.recalculated(path) for _ in range(7)))

    assert len(set(asyncio.run(several()))) == 7
    assert (counting.most, counting.runs) == (AT_ONCE, 7)
    assert asyncio.run(office.reference(path)) == asyncio.run(office.reference(path)) == b"8"


def test_a_program_that_cannot_be_confined_is_a_failed_conversion(tmp_path: Path) -> None:
    class Broken(Counting):
        async def run(self, job: Job) -> ConfinedResult:
            raise ConfinementError("no mount")

    office = Office(Path("/usr/bin/soffice"), Broken())
    path = book(tmp_path / "b.xlsx", {"A1": 1})
    assert asyncio.run(office.recalculated(path)) == "it could not be started (no mount)"


def test_a_copy_gives_only_what_is_missing(tmp_path: Path) -> None:
    formulas = {"A1": 1, "A2": "=X(1)", "A3": "=1/0", "A4": "=A1", "B1": ArrayFormula("B1:B3", "=A1:A3*2"), "C1": "=A1"}
    source = book(tmp_path / "source.xlsx", formulas)
    copy = book(tmp_path / "copy.xlsx", {"A1": 9, "A2": "#NAME?", "A3": "#DIV/0!", "B1": 2, "B2": 4, "C2": 5})
    cells = Book(source, copy).cells("Sheet1", parse("A1:C9")[0])
    assert {place: value for place, value in cells.items() if value is not None} == {
        (1, 1): 1,
        (2, 1): NOT_EVALUATED,
        (3, 1): "#DIV/0!",
        (4, 1): NOT_EVALUATED,
        (1, 2): 2,
        (2, 2): 4,
        (1, 3): NOT_EVALUATED,
    }
    other = book(tmp_path / "other.xlsx", {"A1": 1}, "Other")
    assert Book(source, other).cells("Sheet1", parse("C1")[0]) == {(1, 3): NOT_EVALUATED}
    copy.write_bytes(b"no workbook")
    with pytest.raises(Unrecalculated, match="not a workbook"):
        Book(source, copy)


@pytest.mark.heavy
def test_with_the_real_one(data: Path) -> None:
    office = find_office("auto", choose("auto").confinement)
    if office is None:
        pytest.skip("LibreOffice is not installed here (no `soffice` on PATH)")
    benchmark, item = one(data)
    outcome = do(benchmark, item, FORMULA)
    assert (outcome.hard, outcome.extra) == (1.0, {**outcome.extra, "recalculated": [["produced"]]})
    assert do(benchmark, item, WRONG).hard == 0.0
    benchmark, item = reference_with_formula(data, item)
    assert [do(benchmark, item, reply).hard for reply in (FORMULA, DOUBLE, NOTHING)] == [1.0, 1.0, 0.0]
    path = book(data.parent / "b.xlsx", {"A1": 1, "A2": 2, "B1": "=SUM(A1:A2)", "B2": "=NOSUCH(1)"})
    copy = asyncio.run(office.recalculated(path))
    assert isinstance(copy, bytes), copy
    (data.parent / "copy.xlsx").write_bytes(copy)
    assert load_workbook(data.parent / "copy.xlsx", data_only=True).active["B1"].value == 3
    cells = Book(path, data.parent / "copy.xlsx").cells("Sheet1", parse("B1:B2")[0])
    assert cells == {(1, 2): 3, (2, 2): NOT_EVALUATED}
