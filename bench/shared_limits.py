"""One limit for eight runs: whether it holds, how much of it is used, when a dead run's places are taken, its cost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from bench.made import write_split
from bench.runs import scratch
from bench.table import share, show
from reflact.config.operation import LimitsConfig
from reflact.models.limit_store import FileStore
from reflact.models.limits import Limiter, LocalLimiter
from reflact.models.shared_limits import SharedLimiter
from reflact.testing import ServerProcess

RUNS = 8
WORKERS = 16
LIMIT = 10
ITEMS = 100
LEAVES = 5000
LATENCY_S = 0.25
_REPLY = "<answer>Vel Tor</answer>"


def main() -> None:
    """Measure and print."""
    with scratch() as name:
        folder = Path(name)
        write_split(folder / "split", train=1, val=1, test=ITEMS)
        together = _together(folder)
        freed_s = _after_a_kill(folder)
        costs = _costs_us(folder)
    _show(together, freed_s)
    columns = ["limiter", "no limits", "in flight", "in flight and by the minute"]
    show("what a limiter costs, microseconds of CPU time a request", columns, costs)


def _together(folder: Path) -> list[tuple[float, float]]:
    """Let all runs evaluate at once; return when each request came and was answered."""
    with ServerProcess({"default": _REPLY}, latency_s=LATENCY_S) as server:
        names = [f"run{number}" for number in range(RUNS)]
        runs = [_start(server, folder, name) for name in names]
        codes = [run.wait() for run in runs]
        calls = [(line["started_s"], line["ended_s"]) for line in server.log() if line["wire"] == "chat"]
    figures = [json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in names if not any(codes)]
    rows = [sum(phase["ok"] for phase in one["summary"]["rows"].values()) for one in figures]
    if rows != [ITEMS] * RUNS:
        raise RuntimeError(f"runs ended with {codes} and {rows}")
    return sorted(calls)


def _start(server: ServerProcess, folder: Path, name: str) -> subprocess.Popen[bytes]:
    settings = [
        "harness=openai_chat",
        f"model.student_base_url={server.base_url}",
        f"model.teacher_base_url={server.base_url}",
        f"limits.max_concurrent_requests={LIMIT}",
        f"env.out_root={folder / name}",
        f"env.workers={WORKERS}",
        "display.mode=off",
        "benchmark=searchqa",
        f"env.split_dir={folder / 'split'}",
        "split=test",
    ]
    return subprocess.Popen([sys.executable, "-m", "bench.child", "evaluate", str(folder / f"{name}.json"), *settings])


def _after_a_kill(folder: Path) -> float:
    """Return the seconds from the end of a process that held all places to the first request of one that waited."""
    place = folder / "kill"
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom bench.shared_limits import hold\n"
        "asyncio.run(hold(Path(sys.argv[1])))"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()

    async def wait() -> float:
        limiter = _shared(place, max_concurrent_requests=LIMIT)

        async def pass_() -> float:
            async with limiter.permit(1):
                return time.monotonic()

        waiting = asyncio.create_task(pass_())
        await asyncio.sleep(1)
        if waiting.done():
            raise RuntimeError("the limit did not hold")
        holder.kill()
        killed = time.monotonic()
        came = await waiting
        await limiter.aclose()
        return came - killed

    try:
        return asyncio.run(wait())
    finally:
        holder.kill()
        holder.communicate()


async def hold(place: Path) -> None:
    """Take all places, say so, and keep them."""
    limiter = _shared(place, max_concurrent_requests=LIMIT)
    async with AsyncExitStack() as stack:
        for _ in range(LIMIT):
            await stack.enter_async_context(limiter.permit(1))
        print("held", flush=True)
        await asyncio.sleep(60)


def _shared(place: Path, **limits: int) -> SharedLimiter:
    return SharedLimiter(LimitsConfig(**limits), lambda: FileStore(place), print)


def _costs_us(folder: Path) -> list[list[object]]:
    kinds: tuple[dict[str, int], ...] = (
        {},
        {"max_concurrent_requests": 4},
        {"max_concurrent_requests": 4, "requests_per_minute": 10**6, "tokens_per_minute": 10**9},
    )
    return [
        [
            "this process",
            *[_cost_us(lambda kind=kind: LocalLimiter(LimitsConfig(**kind), time.monotonic)) for kind in kinds],
        ],
        ["shared", *[_cost_us(lambda kind=kind: _shared(folder / "cost", **kind)) for kind in kinds]],
    ]


def _cost_us(make: Callable[[], Limiter]) -> float:
    """Return the CPU time of a leave with one worker, so that no two of them share a turn."""

    async def measure() -> float:
        limiter = make()
        began = time.process_time()
        for _ in range(LEAVES):
            async with limiter.permit(100) as permit:
                await asyncio.sleep(0)
                permit.settle(50)
        spent = time.process_time() - began
        await limiter.aclose()
        return 1e6 * spent / LEAVES

    return asyncio.run(measure())


def most_at_once(calls: Sequence[tuple[float, float]]) -> int:
    """Return the largest number of calls that were open at the same time."""
    changes = sorted([(ended, -1) for _, ended in calls] + [(started, 1) for started, _ in calls])
    open_now = most = 0
    for _, change in changes:
        open_now += change
        most = max(most, open_now)
    return most


def _show(calls: Sequence[tuple[float, float]], freed_s: float) -> None:
    span = max(ended for _, ended in calls) - calls[0][0]
    bound = sum(ended - started for started, ended in calls) / LIMIT
    show(
        f"{RUNS} runs, {WORKERS} workers each, limits.max_concurrent_requests={LIMIT}, {LATENCY_S} s a call",
        ["", "calls", "most in flight", "seconds", "bound", "bound/seconds"],
        [["together", len(calls), most_at_once(calls), span, bound, share(bound, span)]],
        [
            "bound: sum(latency)/limit, latencies as the server logged them; from the first request to the last reply.",
            f"A killed run's places were taken by another one after {freed_s:.2f} s.",
        ],
    )
