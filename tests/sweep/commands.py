"""Sweeps as a user starts them, with simulated models on the small task that ships with the package."""

from __future__ import annotations

import csv
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.commands import Result, line

SMALL = ("harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false", "hydra/launcher=basic")
# Long enough to be caught at work, however fast the machine.
SLOW = ("rehearsal.latency_s=2", "env.workers=1")
SAID = "said.txt"
PATIENCE_S = 500
"""For one sweep: several runs, each a process that has to begin, on a machine that does much else."""


def sweep(folder: Path, *more: str) -> Result:
    """Run a sweep with the root `study` to its end."""
    words = line("reflact-train", "-m", *SMALL, "hydra.sweep.dir=study", *more)
    done = subprocess.run(words, cwd=folder, capture_output=True, timeout=PATIENCE_S)
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def start(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start such a sweep in a session of its own; what it says goes to `said.txt`."""
    words = line("reflact-train", "-m", *SMALL, "hydra.sweep.dir=study", *more)
    with (folder / SAID).open("wb") as said:
        return subprocess.Popen(words, cwd=folder, stdout=said, stderr=said, start_new_session=True)


def said(folder: Path) -> str:
    """Return what the started sweep has said."""
    return (folder / SAID).read_text(encoding="utf-8")


def until(met: Callable[[], Any], what: str) -> Any:
    """Wait for something that must come."""
    for _ in range(20 * PATIENCE_S):
        if found := met():
            return found
        time.sleep(0.05)
    raise AssertionError(f"never came: {what}")


def states(root: Path) -> dict[str, list[str]]:
    """Return the states of each run in the order of the ledger."""
    found: dict[str, list[str]] = {}
    for text in (root / "ledger.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        found.setdefault(entry["run_id"], []).append(entry["state"])
    return found


def at_work(root: Path, run_id: str = "") -> int:
    """Return the process of a run (of that one) that works now, 0 if there is none."""
    for path in (root / "ledger").glob("*.jsonl"):
        for text in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(text)
            wanted = not run_id or entry["run_id"] == run_id
            if wanted and entry["state"] == "running" and (root / entry["run_id"] / "events.jsonl").exists():
                return int(entry["pid"])
    return 0


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    return not Path(f"/proc/{pid}").exists()


def rows(table: Path) -> list[dict[str, str]]:
    """Return the rows of a table in CSV."""
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plan(root: Path) -> dict[str, Any]:
    """Return the points of a root's plan by id."""
    return {point["run_id"]: point for point in json.loads((root / "plan.json").read_text(encoding="utf-8"))["points"]}
