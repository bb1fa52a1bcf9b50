"""Running a script on an item's cases, and judging what it made of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.casefiles import CaseFiles
from reflact.benchmarks.spreadsheetbench.form import cases_of, folder_of
from reflact.benchmarks.spreadsheetbench.inside.compare import FAIL, NOT_EVALUABLE, PASS, READ, UNREADABLE
from reflact.benchmarks.spreadsheetbench.office import Office
from reflact.benchmarks.spreadsheetbench.programs import MOST_PRODUCED, OWN_LIMIT_S, Programs, workspace
from reflact.benchmarks.spreadsheetbench.second_look import SecondLook
from reflact.benchmarks.spreadsheetbench.telling import problem_of
from reflact.confine import ConfinedResult, read_regular
from reflact.core.types import Item

SCRIPT, INPUT, OUTPUT = "solution.py", "input.xlsx", "output.xlsx"


class WorkshopError(Exception):
    """Our own part of the work failed: nothing is known about the student's."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A script's run on one case.

    Attributes:
        produced: Bytes of the workbook that it made, None if it made none or failed.
        problem: What went wrong, in words for the student; `""` if nothing did.
        ended: It was ended, by a limit or a signal; another time it might not be.
    """

    produced: bytes | None
    problem: str = ""
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a case ended.

    Attributes:
        state: `pass`, `fail`, `unreadable` or `not_evaluable`.
        reason: Why it did not pass, in words that give no value of the reference away.
        recalculated: Which workbooks were recalculated for it: `golden`, `produced`.
        not_recalculated: Why one was not, though it was tried; `""` if all went well.
    """

    state: str
    reason: str = ""
    recalculated: tuple[str, ...] = ()
    not_recalculated: str = ""

    @property
    def passed(self) -> bool:
        """Whether the case passed."""
        return self.state == PASS

    @property
    def counts(self) -> bool:
        """Whether the case says anything about the script."""
        return self.state != NOT_EVALUABLE


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where scripts are run and workbooks are opened.

    Attributes:
        programs: Starts programs.
        root: The data folder.
        seconds: What a script may take on one case.
        office: Computes formulas that were saved without results; None leaves them.
    """

    programs: Programs
    root: Path
    seconds: float
    office: Office | None = None

    async def run(self, item: Item, case: CaseFiles, code: str) -> Ran:
        """Run a script on one case, in a new folder that holds nothing but the script and the input."""
        with workspace() as place:
            folder = place / "work"
            folder.mkdir()
            # The reply's text as it came: what Python cannot read must fail there, as the student's mistake.
            (folder / SCRIPT).write_bytes(code.encode("utf-8", "surrogatepass"))
            shutil.copyfile(folder_of(item, self.root) / case.input, folder / INPUT)
            result = await self.programs.script(folder, SCRIPT, INPUT, OUTPUT, self.seconds)
            problem = problem_of(result, folder, self.seconds)
            if problem:
                return Ran(None, problem, ended=result.cut_short)
            produced = read_regular(folder, OUTPUT, MOST_PRODUCED)
        if isinstance(produced, bytes):
            return Ran(produced)
        return Ran(None, f"The script ended without an error, but OUTPUT_PATH is no workbook: {produced}.")

    async def judge(self, item: Item, runs: Sequence[Ran]) -> tuple[Verdict, ...]:
        """Compare what was produced with the references; runs stand in the order of the item's cases.

        Raises:
            WorkshopError: A reference could not be read within the limits.
        """
        verdicts: list[Verdict] = []
        if not any(ran.produced is not None for ran in runs):
            return tuple(Verdict(FAIL, ran.problem) for ran in runs)
        with workspace() as place:
            tasks = [self._task(item, place, number, ran) for number, ran in enumerate(runs)]
            while len(verdicts) < len(tasks):
                result = await self._compare(item, tasks[len(verdicts) :])
                lines = _lines(result)
                for line in (line for line in lines if line["state"] != READ):
                    verdicts.append(await self._settled(item, tasks[len(verdicts)], line, place))
                if len(verdicts) < len(tasks):
                    # The program ended early. Whether the reference had been read tells whose workbook was too much.
                    if not lines or lines[-1]["state"] != READ:
                        raise WorkshopError(
                            f"references could not be read: {problem_of(result, place, OWN_LIMIT_S)[-300:]}"
                        )
                    verdicts.append(Verdict(UNREADABLE, "The workbook takes more time or memory to open than it may."))
        return tuple(
            Verdict(FAIL, ran.problem) if ran.problem and verdict.counts else verdict
            for ran, verdict in zip(runs, verdicts, strict=True)
        )

    async def preview(self, item: Item) -> str:
        """Return what the first case's input looks like.

        Raises:
            WorkshopError: It could not be opened within the limits.
        """
        path = folder_of(item, self.root) / cases_of(item)[0].input
        result = await self.programs.own("preview", str(path), shown=(path,))
        if not result.ok:
            raise WorkshopError(f"{path} could not be previewed: {problem_of(result, path.parent, OWN_LIMIT_S)[-300:]}")
        return result.stdout.decode("utf-8", "replace")

    async def reference_problems(self, items: Sequence[Item]) -> Mapping[str, str]:
        """Return the ids of items with a reference that cannot be compared, and why.

        Raises:
            WorkshopError: They could not be looked through within the limits.
        """
        task = [
            {
                "id": item.id,
                "position": item.data["answer_position"],
                "references": [str(folder_of(item, self.root) / case.golden) for case in cases_of(item)],
            }
            for item in items
        ]
        result = await self.programs.own("check_references", shown=(self.root,), task=task)
        if not result.ok:
            raise WorkshopError(problem_of(result, self.root, OWN_LIMIT_S)[-300:])
        return dict(json.loads(result.stdout))

    def _task(self, item: Item, place: Path, number: int, ran: Ran) -> dict[str, str | None]:
        golden = folder_of(item, self.root) / cases_of(item)[number].golden
        if ran.produced is None:
            return {"golden": str(golden), "produced": None}
        path = place / f"{number}.xlsx"
        path.write_bytes(ran.produced)
        return {"golden": str(golden), "produced": str(path)}

    async def _settled(
        self, item: Item, task: Mapping[str, str | None], line: Mapping[str, Any], place: Path
    ) -> Verdict:
        """Return the verdict on a case, after a second look where formulas without results stand in the way."""
        if self.office is None or "needs" not in line:
            return _verdict(line)
        look = SecondLook(self.office, partial(self._compared, item), place)
        line, done, problem = await look.settle(task, line)
        return replace(_verdict(line), recalculated=done, not_recalculated=problem)

    async def _compared(self, item: Item, task: Mapping[str, str | None]) -> Mapping[str, Any]:
        lines = _lines(await self._compare(item, [task]))
        return lines[-1] if lines else {"state": READ}

    async def _compare(self, item: Item, tasks: Sequence[Mapping[str, str | None]]) -> ConfinedResult:
        shown = tuple(Path(path) for task in tasks for path in task.values() if path is not None)
        task = {"position": item.data["answer_position"], "cases": [dict(task) for task in tasks]}
        return await self.programs.own("compare", shown=shown, task=task)


def _lines(result: ConfinedResult) -> list[dict[str, Any]]:
    # A program that was ended may have been in the middle of a line.
    whole = result.stdout.decode("utf-8", "replace").split("\n")[:-1]
    return [json.loads(line) for line in whole]


def _verdict(line: Mapping[str, Any]) -> Verdict:
    state, note = str(line["state"]), str(line.get("note", ""))
    if state == UNREADABLE:
        return Verdict(state, f"The workbook at OUTPUT_PATH cannot be compared: {note}.")
    if state == FAIL and note:
        return Verdict(state, f"In the produced workbook {note}.")
    if state == FAIL:
        reason = f"{line['differing']} of {line['cells']} compared cells are not as expected, first {line['first']}."
        if line["unevaluated"]:
            reason += " Formulas written by a script have no result until a spreadsheet program opens them."
        return Verdict(state, reason)
    return Verdict(state, note)
