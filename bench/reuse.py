"""What runs of a sweep save by sharing the evaluations of their initial skill."""

from __future__ import annotations

from pathlib import Path

from bench.runs import scratch
from bench.study import Took, spent, summaries, sweep
from bench.table import show

SWEEP = ("+sweep=tables_all", "benchmark=searchqa", "sweep.rehearse=true")
"""32 points of one benchmark."""


def main() -> None:
    """Measure and print."""
    rows = []
    with scratch() as name:
        for reuse in ("off", "baseline"):
            root = Path(name) / reuse
            took = sweep(root, *SWEEP, f"evaluation.reuse={reuse}")
            rows.append(_row(reuse, root, took))
    off, baseline = rows
    rows.append(["saved", None, *(_share(old, new) for old, new in zip(off[2:6], baseline[2:6], strict=True)), None])
    show(
        "reuse: 32 points of SearchQA, rehearsed",
        ["evaluation.reuse", "runs", "student calls", "student tokens", "teacher calls", "all tokens", "CPU s"],
        rows,
        ["Made items: 12 train, 10 selection, 16 test. What is saved grows with the test split's share."],
    )


def _row(reuse: str, root: Path, took: Took) -> list[object]:
    found = summaries(root)
    total = spent(found)
    (calls, tokens), (asked, taught) = total["student"], total["teacher"]
    return [reuse, len(found), calls, tokens, asked, tokens + taught, took.cpu_s]


def _share(old: object, new: object) -> str:
    assert isinstance(old, int)
    assert isinstance(new, int)
    return f"{100 * (old - new) / old:.1f}%"
