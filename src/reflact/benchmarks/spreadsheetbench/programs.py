"""The programs that run beside the run's own process: students' scripts, and ours that open workbooks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import reflact
from reflact.benchmarks.spreadsheetbench.turns import Turns
from reflact.confine import ConfinedResult, Confinement, Job, Limits, Mount, Python, remove_tree, this_python

_PACKAGE = "reflact.benchmarks.spreadsheetbench.inside"
_MIB = 1024 * 1024
OWN_LIMIT_S = 120.0
"""Seconds that a program of ours may take for one item."""
MOST_PRODUCED = 64 * _MIB
"""Largest workbook that is looked at, in bytes."""


@dataclass(frozen=True)
class Programs:
    """Starts programs, a bounded number at once.

    Attributes:
        confinement: Runs them.
        at_once: How many run at the same time.
        memory_bytes: What each may take.
    """

    confinement: Confinement
    at_once: int
    memory_bytes: int

    async def script(self, folder: Path, script: str, source: str, target: str, seconds: float) -> ConfinedResult:
        """Run a student's script.

        Args:
            folder: Its folder, the only one it may write to.
            script: Name of its file there.
            source: Name of the workbook to read.
            target: Name of the workbook to write.
            seconds: Seconds that it may take.
        """
        python = self._python
        paths = (str(folder / name) for name in (script, source, target))
        job = Job(
            (*python.argv, "-c", self._runner, *paths),
            str(folder),
            Limits(seconds, self.memory_bytes, file_bytes=MOST_PRODUCED),
            (*python.mounts, Mount(folder, writable=True)),
            python.hidden,
            python.env,
        )
        return await self._run(job)

    async def own(self, name: str, *args: str, shown: tuple[Path, ...], task: Any = None) -> ConfinedResult:
        """Run a program of the folder `inside`.

        Args:
            name: Its name.
            args: Its arguments.
            shown: Files and folders that it reads.
            task: What it reads from standard input, as JSON.
        """
        python = self._python
        package = self._package
        with workspace() as folder:
            job = Job(
                (*python.argv, "-m", f"{_PACKAGE}.{name}", *args),
                str(folder),
                Limits(OWN_LIMIT_S, self.memory_bytes, file_bytes=_MIB, output_bytes=4 * _MIB, kept_bytes=4 * _MIB),
                (*python.mounts, Mount(package), *map(Mount, shown), Mount(folder, writable=True)),
                env={**_own_env(python, package), "OPENPYXL_LXML": "False"},
                stdin=b"" if task is None else json.dumps(task).encode(),
            )
            return await self._run(job)

    async def _run(self, job: Job) -> ConfinedResult:
        async with self._turns.taken():
            return await self.confinement.run(job)

    @cached_property
    def _turns(self) -> Turns:
        return Turns(self.at_once)

    @cached_property
    def _python(self) -> Python:
        return this_python()

    @cached_property
    def _package(self) -> Path:
        return Path(reflact.__file__).resolve().parent

    @cached_property
    def _runner(self) -> str:
        return files(_PACKAGE).joinpath("run_script.py").read_text(encoding="utf-8")


def _own_env(python: Python, package: Path) -> Mapping[str, str]:
    return {**python.env, "PYTHONPATH": f"{python.env['PYTHONPATH']}:{package.parent}"}


@contextmanager
def workspace() -> Iterator[Path]:
    """Make a temporary folder of no telling name, and remove it whatever has been put there."""
    folder = Path(tempfile.mkdtemp(prefix="reflact-")).resolve()
    try:
        yield folder
    finally:
        remove_tree(folder)
