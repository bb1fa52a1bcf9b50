"""The whole study rehearsed for real."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bench.rehearsal import TARGET_S
from bench.runs import scratch
from bench.study import PAPER, cores, planned, summaries, sweep
from bench.table import show


def main() -> None:
    """Measure and print."""
    with scratch() as name:
        root = Path(name) / "study"
        took = sweep(root, *PAPER)
        runs, found = planned(root), summaries(root)
        by_benchmark = Counter(summary["benchmark"] for summary in found)
    show(
        f"rehearsal_full: the plan `paper` for real, 2 runs at once on {cores()} cores",
        ["", "seconds", "of the target", "CPU s", "CPU s a run", "runs", "complete"],
        [["all", took.wall_s, took.wall_s / TARGET_S, took.cpu_s, took.cpu_s / len(runs), len(runs), len(found)]],
        [", ".join(f"{name} {count}" for name, count in sorted(by_benchmark.items()))],
    )
