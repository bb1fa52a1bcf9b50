"""What tests of jobs need: means of confinement, and small Python programs to run with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reflact.confine import Choice, ConfinedResult, Confinement, Job, Limits, Mount, choose, this_python

MIB = 1024 * 1024


@cache
def _machine() -> Choice:
    return choose("auto")


def bubblewrap() -> Confinement:
    """Return the machine's confinement, or skip."""
    choice = _machine()
    if not choice.confinement.confined:
        pytest.skip(f"absent: {choice.reason}")
    return choice.confinement


def run(
    confinement: Confinement,
    folder: Path,
    code: str,
    *,
    meanwhile: Callable[[], None] | None = None,
    argv: tuple[str, ...] = (),
    **limits: Any,
) -> ConfinedResult:
    """Run a Python program in a folder."""
    python = this_python()
    (folder / "program.py").write_text(code, encoding="utf-8")
    job = Job(
        (*python.argv, str(folder / "program.py"), *argv),
        str(folder),
        Limits(**{"wall_s": 20.0, **limits}),
        (*python.mounts, Mount(folder, writable=True)),
        python.hidden,
        python.env,
    )

    async def go() -> ConfinedResult:
        return await confinement.run(job)

    return asyncio.run(go())


def processes_with(word: str) -> list[int]:
    """Return the processes of this machine whose command line holds a word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line.split(b"\0"):
                found.append(int(entry.name))
    return found
