"""Whole studies through the real command: how long they take, and what they call."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAPER = ("+sweep=paper", "sweep.rehearse=true")
_TRAIN = "import sys; sys.argv[0] = 'reflact-train'; from reflact.cli.train import main; main()"


@dataclass(frozen=True, slots=True)
class Took:
    """What a command took.

    Attributes:
        wall_s: Seconds from call to end.
        cpu_s: Processor time of it and of everything that it started.
    """

    wall_s: float
    cpu_s: float


def sweep(root: Path | None, *words: str) -> Took:
    """Run a sweep to its end.

    Raises:
        RuntimeError: It did not end well; with the end of what it said.
    """
    place = () if root is None else (f"hydra.sweep.dir={root}",)
    begun, before = time.monotonic(), _cpu_s()
    done = subprocess.run([sys.executable, "-c", _TRAIN, "-m", *words, *place], capture_output=True, text=True)
    took = Took(time.monotonic() - begun, _cpu_s() - before)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
    return took


def planned(root: Path) -> list[dict[str, Any]]:
    """Return the points of a root's plan that are runs, in order."""
    points = json.loads((root / "plan.json").read_text(encoding="utf-8"))["points"]
    return [point for point in points if point["state"] == "run"]


def summaries(root: Path) -> list[dict[str, Any]]:
    """Return the summaries of a root's runs."""
    paths = sorted(root.glob("*/summary.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def spent(found: Sequence[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Return (calls, tokens) of runs by the role of the model, without what they took over from others."""
    total = {"student": (0, 0), "teacher": (0, 0)}
    for summary in found:
        for role, stages in summary["usage"].items():
            for phases in stages.values():
                for usage in phases.values():
                    calls, tokens = total[role]
                    read = usage["prompt_tokens"] + usage["completion_tokens"]
                    total[role] = (calls + usage["calls"], tokens + read)
    return total


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
