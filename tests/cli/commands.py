"""Running the commands as a user does, in a process of their own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MODULES = {"reflact-train": "train", "reflact-eval": "evaluate", "reflact": "main"}
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str


def line(program: str, *arguments: str) -> list[str]:
    """Return the command line that starts a program with this interpreter."""
    return [sys.executable, "-m", f"reflact.cli.{MODULES[program]}", *arguments]


def run(folder: Path, program: str, *arguments: str, env: Mapping[str, str] | None = None) -> Result:
    """Run a command in a folder and wait for it."""
    done = subprocess.run(
        line(program, *arguments), cwd=folder, capture_output=True, env={**os.environ, **(env or {})}, timeout=120
    )
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Return the content and the time of change of everything under a folder."""
    found = {}
    for path in [root, *sorted(root.rglob("*"))]:
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        found[str(path.relative_to(root))] = (content, path.stat().st_mtime_ns)
    return found
