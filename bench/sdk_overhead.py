"""CPU time of a call: the bare SDK against the whole path, and one transport against the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.made import write_split
from bench.runs import run, scratch
from bench.table import share, show
from reflact.testing import ServerProcess

CALLS = 1024
REPEATS = 2
_LATENCY_S = 0.05
_REPLY = "The results point to one name.\n<answer>Vel Tor</answer>"
_LEVELS = (
    ("plain", "httpx2", "SDK as documented, its own transport"),
    ("plain", "aiohttp", "SDK as documented, aiohttp"),
    ("post", "httpx2", "SDK with the reply read by json, its own transport"),
    ("post", "aiohttp", "SDK with the reply read by json, aiohttp"),
    ("complete", "aiohttp", "one attempt of openai_chat"),
)


def main() -> None:
    """Measure and print."""
    with ServerProcess({"default": _REPLY}, latency_s=_LATENCY_S) as server:
        times = {name: _child(level, transport, server.base_url) for level, transport, name in _LEVELS}
    times["an item of an evaluation, rows and events on disk"] = _evaluation()
    first = next(iter(times.values()))
    show(
        f"sdk overhead: CPU milliseconds a call, user and system, {CALLS} calls, the better of {REPEATS}",
        ["path", "ms", "of the first"],
        [[name, ms, share(ms, first)] for name, ms in times.items()],
    )


def _child(level: str, transport: str, url: str) -> float:
    command = [sys.executable, "-m", "bench.sdk_child", level, transport, url, str(CALLS)]
    return min(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(REPEATS)
    )


def _evaluation() -> float:
    with scratch() as name:
        folder = Path(name)
        write_split(folder / "split", train=1, val=1, test=2 * CALLS)
        settings = ["benchmark=searchqa", f"env.split_dir={folder / 'split'}", "split=test"]
        found = []
        for number in range(REPEATS):
            # What a run does once, whatever its size, is left out: the second half of twice as many items.
            whole, half = (
                float(
                    run(
                        "evaluate",
                        {"default": _REPLY},
                        folder / f"{number}-{size}",
                        [*settings, f"evaluation.test_env_num={size}"],
                        latency_s=_LATENCY_S,
                    ).figures["cpu_s"]
                )
                for size in (2 * CALLS, CALLS)
            )
            found.append(1000 * (whole - half) / CALLS)
        return min(found)
