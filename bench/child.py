"""One run in a process of its own: `python -m bench.child train|evaluate OUT override...` writes its figures to OUT."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp  # noqa: F401 - loading the client is the start of a process, which another measurement is about
import openai  # noqa: F401

import reflact


def main() -> None:
    """Run and write the figures."""
    kind, out, *overrides = sys.argv[1:]
    config = reflact.compose(overrides)
    cpu, started = time.process_time(), time.monotonic()
    summary = (reflact.train if kind == "train" else reflact.evaluate)(config).to_json()
    figures: dict[str, Any] = {
        "cpu_s": time.process_time() - cpu,
        "process_cpu_s": time.process_time(),
        "wall_s": time.monotonic() - started,
        "peak_mb": peak_mb(),
        "queued_s": queued_s(),
        "summary": summary,
    }
    Path(out).write_text(json.dumps(figures), encoding="utf-8")


def peak_mb() -> float:
    """Return the peak of this process's own resident memory (`getrusage` may report its parent's)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def queued_s() -> float:
    """Return the seconds in which the main thread could have run and no core was free: how busy others were."""
    return int(Path("/proc/self/schedstat").read_text(encoding="utf-8").split()[1]) / 1e9


if __name__ == "__main__":
    main()
