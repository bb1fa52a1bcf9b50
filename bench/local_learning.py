"""Train on `orders` with the model in this process, one run a seed, and print what was measured.

    python bench/local_learning.py [--seeds 42,43,44] [--teacher template|local] [override ...]

Prints a line a seed: held-out accuracy of the initial and the best skill with 95% Wilson intervals, the student's
calls, tokens and seconds; then the sums. Needs `reflact local install`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import reflact
from reflact.engine.stats import wilson


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="42,43,44", help="train.seed of each run")
    parser.add_argument("--teacher", default="template", choices=("template", "local"))
    parser.add_argument("--keep", type=Path, help="keep the run directories there")
    parser.add_argument("overrides", nargs="*")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="reflact-bench-") as scratch:
        root = given.keep if given.keep is not None else Path(scratch)
        runs = [_run(int(seed), given.teacher, root, given.overrides) for seed in given.seeds.split(",")]
    for part in ("baseline", "best"):
        print(f"{part:9s} over {len(runs)} seeds: {_interval(*_sum(runs, part))} of the test items")


def _run(seed: int, teacher: str, root: Path, overrides: list[str]) -> Mapping[str, Any]:
    config = reflact.compose(
        [
            "benchmark=orders",
            "harness=local",
            f"model.teacher_backend={teacher}",
            f"train.seed={seed}",
            f"env.out_root={root / f'{teacher}-{seed}'}",
            "display.mode=off",
            *overrides,
        ]
    )
    started, cpu = time.perf_counter(), time.process_time()
    summary = reflact.train(config).to_json()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    student = _usage(summary["usage"]["student"])
    print(
        f"seed {seed}: test {_interval(*_right(summary, 'baseline'))} -> {_interval(*_right(summary, 'best'))}; "
        f"selection {summary['baseline']['selection']['hard']:.3f} -> {summary['best']['selection']['hard']:.3f}; "
        f"{summary['steps']['accepted']} of {summary['steps']['total']} steps accepted; "
        f"{student['calls']} student calls, {student['tokens']} tokens; {seconds:.0f} s ({cpu_seconds:.0f} s CPU); "
        f"valid: {summary['validity']['valid']}",
        flush=True,
    )
    return summary


def _right(summary: Mapping[str, Any], part: str) -> tuple[int, int]:
    test = summary[part]["test"]
    return round(test["hard"] * test["scored"]), test["scored"]


def _sum(runs: list[Mapping[str, Any]], part: str) -> tuple[int, int]:
    pairs = [_right(summary, part) for summary in runs]
    return sum(right for right, _ in pairs), sum(n for _, n in pairs)


def _interval(right: int, n: int) -> str:
    interval = wilson(right, n)
    return f"{right}/{n} [{interval.low:.3f}, {interval.high:.3f}]" if interval is not None else "0/0"


def _usage(stages: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, int]:
    cells = [cell for phases in stages.values() for cell in phases.values()]
    return {
        "calls": sum(cell["calls"] for cell in cells),
        "tokens": sum(cell["prompt_tokens"] + cell["completion_tokens"] for cell in cells),
    }


if __name__ == "__main__":
    main()
