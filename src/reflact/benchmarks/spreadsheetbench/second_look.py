"""Comparing a case again, with recalculated copies of the workbooks that hold formulas without results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.inside.compare import COPY, GOLDEN, READ, UNRECALCULATED
from reflact.benchmarks.spreadsheetbench.office import Office

Line = Mapping[str, Any]
Task = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """Looks again.

    Attributes:
        office: Recalculates.
        compare: Compares one case; the last line of what it says.
        place: Where copies may lie.
    """

    office: Office
    compare: Callable[[Task], Awaitable[Line]]
    place: Path

    async def settle(self, task: Task, line: Line) -> tuple[Line, tuple[str, ...], str]:
        """Recalculate what a case needs, the reference first, and compare again.

        Args:
            task: The case.
            line: What the first comparison said.

        Returns:
            What counts; which workbooks were recalculated; why one could not be, `""` if all could. Then what counts is
            what was said before.
        """
        done: list[str] = []
        while (side := line.get("needs")) and side not in done:
            found = await self._copied(side, Path(str(task[side])))
            if isinstance(found, str):
                return line, tuple(done), f"{side}: {found}"
            task = {**task, COPY.format(side): str(found)}
            again = await self.compare(task)
            if again["state"] == UNRECALCULATED:
                return line, tuple(done), f"{side}: of what LibreOffice left, {again['note']}"
            if again["state"] == READ:
                return line, tuple(done), f"{side}: what LibreOffice left takes more time or memory to open than it may"
            line = again
            done.append(side)
        return line, tuple(done), ""

    async def _copied(self, side: str, path: Path) -> Path | str:
        recalculate = self.office.reference if side == GOLDEN else self.office.recalculated
        copy = await recalculate(path)
        if isinstance(copy, str):
            return f"LibreOffice failed: {copy}"
        target = self.place / f"{path.stem}-{COPY.format(side)}.xlsx"
        target.write_bytes(copy)
        return target
