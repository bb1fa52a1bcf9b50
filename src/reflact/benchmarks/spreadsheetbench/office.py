"""LibreOffice, where it is installed: computes the formulas of a workbook that was saved without their results."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reflact.benchmarks.spreadsheetbench.programs import MOST_PRODUCED, workspace
from reflact.benchmarks.spreadsheetbench.turns import Turns
from reflact.confine import MIB, ConfinedResult, Confinement, ConfinementError, Ending, Job, Limits, Mount, read_regular

AT_ONCE = 2
"""Conversions at the same time: each takes a core and some hundred megabytes."""
_LIMIT_S = 60.0
_MEMORY = 3072 * MIB
_SCRATCH = 64 * MIB
_PROGRAMS = ("soffice", "libreoffice")
_BOOK, _OUT, _PROFILE = "book.xlsx", "out", "profile"
# What Debian's packages keep outside /usr: without it the program does not find its own configuration or any font.
_BESIDE = ("/etc/libreoffice", "/etc/fonts", "/var/lib/libreoffice")
_ENV = {"SAL_USE_VCLPLUGIN": "svp", "MALLOC_ARENA_MAX": "2", "TZ": "UTC"}
_ENDED = {
    Ending.MEMORY: "it used too much memory",
    Ending.OUTPUT: "it printed too much",
    Ending.PROCESSES: "it started too many processes",
    Ending.DISK: "it wrote too much",
}


@dataclass(frozen=True)
class Office:
    """Recalculates workbooks.

    Attributes:
        program: The program, without links.
        confinement: Runs it.
        seconds: What one conversion may take.
        turns: Bounds how many run at once.
    """

    program: Path
    confinement: Confinement
    seconds: float = _LIMIT_S
    turns: Turns = field(default_factory=lambda: Turns(AT_ONCE))
    _known: dict[Path, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def record(self) -> str:
        """What settings say: another version may compute another value."""
        folder = self.program.parent
        said = (_entry(folder / "bootstraprc", "ProductKey"), _entry(folder / "versionrc", "buildid"))
        return " ".join(filter(None, said)) or "LibreOffice"

    async def reference(self, path: Path) -> bytes | str:
        """Recalculate a reference once and keep the result: formulas of the day or of chance must not differ by row.

        Returns:
            The recalculated workbook, or in words why there is none.
        """
        if path not in self._known:
            copy = await self.recalculated(path)
            if isinstance(copy, str):
                return copy  # it may work at the next row
            # Another row may have been quicker, and all are to be compared with the same.
            self._known.setdefault(path, copy)
        return self._known[path]

    async def recalculated(self, path: Path) -> bytes | str:
        """Recalculate a workbook; nothing is written where it lies.

        Returns:
            The recalculated workbook, or in words why there is none.
        """
        async with self.turns.taken():
            with workspace() as folder:
                shutil.copyfile(path, folder / _BOOK)
                try:
                    problem = self._problem(await self.confinement.run(self._job(folder)))
                except ConfinementError as error:
                    # Scripts did run confined: it is this program that does not, and rows can do without it.
                    problem = f"it could not be started ({error})"
                if problem:
                    return problem
                copy = read_regular(folder / _OUT, _BOOK, MOST_PRODUCED)
        return copy if isinstance(copy, bytes) else f"it left no workbook: {copy}"

    def _job(self, folder: Path) -> Job:
        argv = (
            str(self.program),
            # A profile of its own: programs that share one wait for each other, and a user's holds macros and settings.
            f"-env:UserInstallation={(folder / _PROFILE).as_uri()}",
            *("--headless", "--norestore", "--nolockcheck", "--nologo"),
            *("--convert-to", "xlsx", "--outdir", str(folder / _OUT), str(folder / _BOOK)),
        )
        return Job(
            argv,
            str(folder),
            Limits(self.seconds, _MEMORY, file_bytes=MOST_PRODUCED),
            (*map(Mount, _shown(self.program)), Mount(folder, writable=True)),
            env=_ENV,
            scratch_bytes=_SCRATCH,  # it makes its sockets in /tmp, whatever TMPDIR says
        )

    def _problem(self, result: ConfinedResult) -> str:
        if result.ending is Ending.TIME:
            return f"it did not end within {self.seconds:g} s"
        if result.ending is not Ending.EXITED:
            return _ENDED[result.ending]
        return "" if result.code == 0 else f"it ended with exit code {result.code}"


def find_office(mode: str, confinement: Confinement) -> Office | None:
    """Return the LibreOffice on PATH; None if there is none, or if none is wanted.

    Args:
        mode: `env.recalculate`.
        confinement: Runs it.
    """
    if mode == "off":
        return None
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    return None if found is None else Office(Path(found).resolve(), confinement)


def _shown(program: Path) -> Iterator[Path]:
    """Yield what it needs to be shown beside /usr."""
    # An installation is a folder with the folder `program` in it; anything else is a program that starts one.
    tree = program.parent.parent if program.parent.name == "program" else program
    for path in (tree, *sorted(Path("/opt").glob("libreoffice*")), *map(Path, _BESIDE)):
        if path.exists() and not path.is_relative_to("/usr"):
            yield path


def _entry(path: Path, name: str) -> str:
    """Return an entry of a program's settings file; `""` if there is no such file or entry."""
    if not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition("=")[2].strip() for line in lines if line.startswith(f"{name}=")), "")
