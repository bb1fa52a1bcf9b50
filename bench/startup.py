"""How long commands take to begin."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import reflact
from bench.runs import scratch
from bench.table import show
from reflact.cli.main import COMMANDS

REPEATS = 5
RUNS = 100
_TRAIN = "import sys; sys.argv[0] = 'reflact-train'; from reflact.cli.train import main; main()"
_EVALUATE = "import sys; sys.argv[0] = 'reflact-eval'; from reflact.cli.evaluate import main; main()"
_ADMIN = "import sys; sys.argv[0] = 'reflact'; from reflact.cli.main import main; main()"


def main() -> None:
    """Measure and print."""
    with scratch() as name:
        folder = Path(name)
        _make_runs(folder / "runs")
        commands = {
            "python -c pass": ["pass"],
            "reflact-train --help": [_TRAIN, "--help"],
            "reflact-eval --help": [_EVALUATE, "--help"],
            "reflact-train --cfg job": [_TRAIN, "--cfg", "job"],
            "reflact --help": [_ADMIN, "--help"],
            "reflact keys learning_rate": [_ADMIN, "keys", "learning_rate"],
            **{f"reflact {command.name} --help": [_ADMIN, command.name, "--help"] for command in COMMANDS},
            f"reflact status ({RUNS} runs)": [_ADMIN, "status", str(folder / "runs")],
        }
        rows = []
        for title, arguments in commands.items():
            seconds = [_seconds(arguments) for _ in range(REPEATS)]
            rows.append([title, min(seconds), median(seconds)])
        size = sum(path.stat().st_size for path in (folder / "runs").rglob("events.jsonl")) / 2**20
    show(
        f"startup: seconds from call to end, {REPEATS} times each",
        ["command", "best", "median"],
        rows,
        [f"status reads {size:.0f} MB of events: the runs have the orders task's shape, four epochs each."],
    )


def _make_runs(folder: Path) -> None:
    """Make one rehearsal run and copy it: only the number of files matters here."""
    first = folder / "run-000"
    reflact.train(reflact.compose(["harness=rehearsal", f"env.out_root={first}", "display.mode=off"]))
    for number in range(1, RUNS):
        shutil.copytree(first, folder / f"run-{number:03d}")


def _seconds(arguments: Sequence[str]) -> float:
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", *arguments], check=True, capture_output=True)
    return time.monotonic() - started
