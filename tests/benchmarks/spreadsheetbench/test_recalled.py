"""Scripts of a rehearsal: run once, read from then on; what a limit ended is run again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from reflact.benchmarks.recall import Recall
from reflact.benchmarks.spreadsheetbench.form import cases_of
from reflact.benchmarks.spreadsheetbench.programs import Programs
from reflact.benchmarks.spreadsheetbench.recalled import RecalledWorkshop
from reflact.benchmarks.spreadsheetbench.workshop import Ran, Verdict
from reflact.confine import ConfinedResult, Confinement, Job, choose
from reflact.core.names import Part
from reflact.core.types import Item

from .support import data_folder, need_bubblewrap, over, record

MIB = 1024 * 1024
DOUBLE = "import openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\nsheet = book.active\n"
RIGHT = f"{DOUBLE}sheet['B1'] = sheet['A1'].value * 2\nbook.save(OUTPUT_PATH)\n"
WRONG = f"{DOUBLE}sheet['B1'] = 'no'\nbook.save(OUTPUT_PATH)\n"
FAILING = "raise LookupError('there is no such column')\n"
ENDLESS = "while True: pass\n"


@dataclass
class Counted:
    """A confinement that counts what it runs."""

    inner: Confinement = field(default_factory=lambda: choose("auto").confinement)
    jobs: int = 0

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def confined(self) -> bool:
        return self.inner.confined

    async def run(self, job: Job) -> ConfinedResult:
        self.jobs += 1
        return await self.inner.run(job)


def made(tmp_path: Path) -> Item:
    root = data_folder(tmp_path / "data", [record(name) for name in "abc"])
    return over(root, split="1shot").load().parts[Part.TEST][0]


def do(tmp_path: Path, item: Item, code: str, seconds: float = 60) -> tuple[Ran, tuple[Verdict, ...], str, int]:
    """Do everything that a row needs, as a new run would; also return how many programs ran."""
    counted = Counted()
    recall = Recall(tmp_path / "shared", {"seconds": seconds})
    shop = RecalledWorkshop(Programs(counted, 2, 512 * MIB), tmp_path / "data", seconds, recall=recall)

    async def run() -> tuple[Ran, tuple[Verdict, ...], str, int]:
        preview = await shop.preview(item)
        ran = await shop.run(item, cases_of(item)[0], code)
        return ran, await shop.judge(item, [ran]), preview, counted.jobs

    return asyncio.run(run())


def test_the_next_run_gets_the_same_without_running_anything(tmp_path: Path) -> None:
    need_bubblewrap()
    item = made(tmp_path)
    for code, state in ((RIGHT, "pass"), (WRONG, "fail"), (FAILING, "fail")):
        first, again = do(tmp_path, item, code), do(tmp_path, item, code)
        assert first[:3] == again[:3]
        assert first[1][0].state == state
        assert first[3] > 0 == again[3]


def test_another_script_and_other_limits_are_their_own(tmp_path: Path) -> None:
    need_bubblewrap()
    item = made(tmp_path)
    do(tmp_path, item, RIGHT)
    assert do(tmp_path, item, RIGHT + "# and a word\n")[3] > 0
    assert do(tmp_path, item, RIGHT, seconds=61)[3] > 0


def test_what_a_limit_ended_is_run_again(tmp_path: Path) -> None:
    need_bubblewrap()
    item = made(tmp_path)
    for _ in range(2):
        ran, verdicts, _, jobs = do(tmp_path, item, ENDLESS, seconds=1)
        assert ran.ended and "within 1 s" in ran.problem
        assert verdicts[0].state == "fail"
        assert jobs > 0
