"""Showing this interpreter and its packages to a job."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import reflact
from reflact.confine.job import Mount

_SYSTEM = Path("/usr")
# One thread each: jobs share the machine, and every thread reserves address space, which is limited.
_QUIET = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "TZ": "UTC",
}


@dataclass(frozen=True, slots=True)
class Python:
    """How a job runs Python.

    Attributes:
        argv: Begins a command: the interpreter and its options; a program's path or `-c` follows.
        mounts: What it needs to be shown.
        env: What it needs to be told.
        hidden: Folders of ours that must not be seen with it.
    """

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[Path, ...] = ()


def this_python() -> Python:
    """Return the interpreter of this process with the packages that are installed beside reflact.

    Its program and libraries are shown, never a whole prefix, which may be somebody's home. The program is started by
    its real path, since a virtual environment's link leads through folders that are not shown.
    """
    program = Path(sys.executable).resolve()
    packages = list(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))
    base = Path(sys.base_prefix).resolve()
    trees = [program, *(base / name for name in ("lib", "lib64")), *map(Path, packages)]
    shown = dict.fromkeys(tree for tree in trees if tree.exists() and not tree.is_relative_to(_SYSTEM))
    return Python(
        # No user's packages, no package from the folder that it starts in.
        (str(program), "-s", "-P"),
        tuple(Mount(tree) for tree in shown),
        {**_QUIET, "PYTHONPATH": os.pathsep.join(packages)},
        (Path(reflact.__file__).resolve().parent,),
    )
