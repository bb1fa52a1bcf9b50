"""An evaluation of 1,024 items, 64 in flight, against its bound."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.made import write_split
from bench.runs import LATENCY_S, SLOTS, Measured, run, scratch
from bench.table import share, show

ITEMS = 1024
SLOW_EVERY = 100
SLOW_FACTOR = 30
HEDGE_AFTER = 0.95
_REPLY = "The results point to one name.\n<answer>Vel Tor</answer>"


def main() -> None:
    """Measure and print."""
    with scratch() as name:
        folder = Path(name)
        write_split(folder / "split", train=1, val=1, test=ITEMS)
        plain = {"default": _REPLY}
        slow = {"rules": [_slow_rule()], "default": _REPLY}
        runs = {
            "all alike": _evaluate(folder / "plain", plain),
            f"1% x {SLOW_FACTOR}": _evaluate(folder / "slow", slow),
            f"1% x {SLOW_FACTOR}, hedged": _evaluate(folder / "hedged", slow, f"limits.hedge_after={HEDGE_AFTER}"),
        }
    _show_time(runs)
    _show_cost(runs)


def _slow_rule() -> dict[str, Any]:
    places = list(range(SLOW_EVERY, ITEMS + ITEMS // 10, SLOW_EVERY))
    return {"match": {"nth": places}, "actions": [{"reply": _REPLY, "latency_s": SLOW_FACTOR * LATENCY_S}]}


def _evaluate(folder: Path, script: Mapping[str, Any], *more: str) -> Measured:
    split = folder.parent / "split"
    return run("evaluate", script, folder, ["benchmark=searchqa", f"env.split_dir={split}", "split=test", *more])


def in_order(seconds: Sequence[float], slots: int) -> float:
    """Return when calls that start in the order given, each in the first free slot, have ended."""
    free = [0.0] * slots
    for length in seconds:
        heapq.heappush(free, heapq.heappop(free) + length)
    return max(free)


def _show_time(runs: Mapping[str, Measured]) -> None:
    rows = []
    for name, measured in runs.items():
        lengths = [call.seconds for call in measured.calls]
        shared = max(measured.summed_s / SLOTS, max(lengths))
        ordered = in_order(lengths, SLOTS)
        span = measured.span_s
        rows.append([name, len(lengths), span, shared, share(shared, span), ordered, share(ordered, span)])
    show(
        f"evaluation: {ITEMS} items, {SLOTS} in flight, {LATENCY_S} s a call; seconds, first request to last reply",
        ["calls", "n", "measured", "bound", "bound/measured", "in order", "in order/measured"],
        rows,
        [
            "bound: max(sum(latency)/slots, longest call), latencies as the server logged them.",
            "in order: each call in the first slot that is free. Nobody knows beforehand which call will be slow, so",
            "without a second request no scheduler does better; the last slow call decides it.",
        ],
    )


def _show_cost(runs: Mapping[str, Measured]) -> None:
    rows = [
        [
            name,
            measured.cpu_ms,
            float(measured.figures["wall_s"]),
            float(measured.figures["peak_mb"]),
            float(measured.figures["queued_s"]),
            len(measured.calls) - ITEMS,
        ]
        for name, measured in runs.items()
    ]
    show(
        "evaluation: what it costs",
        ["calls", "CPU ms/call", "whole command s", "peak MB", "waited for a core s", "extra calls"],
        rows,
        ["CPU: user and system time of the whole `evaluate`, reading the data and writing the summary included."],
    )
