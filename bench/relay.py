"""What the relay adds to a request of an agent, and how long a killed reflact's agents live on."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from bench.runs import scratch
from bench.table import show
from reflact.config.operation import BudgetConfig, LimitsConfig
from reflact.config.schema import Config
from reflact.confine import choose
from reflact.confine.looking import descendants
from reflact.core.names import Phase, Role, Stage
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limits import LocalLimiter
from reflact.models.meter import Meter
from reflact.models.work_budget import WorkBudget
from reflact.relay import Caps, Proof, Relay, Visit
from reflact.relay.connect import connect_upstream
from reflact.testing import ServerProcess

REQUESTS = 300
KILLS = 9
_PATHS = {"codex_exec": "/v1/responses", "claude_code_exec": "/v1/messages"}
_SLEEPERS = "sleep 7531 & (setsid nohup sleep 7531 >/dev/null 2>&1 &); setsid sleep 7531 & echo ready; sleep 7531"
_CONFINED = """
import asyncio, sys
from pathlib import Path
from reflact.confine import Job, Limits, Mount, choose
place = Mount(Path(sys.argv[1]), "/ws", writable=True)
def heard(chunk):
    print("ready", flush=True)
job = Job(("/bin/sh", "-c", sys.argv[2]), "/ws", Limits(600), (place,), on_output=heard)
asyncio.run(choose("require").confinement.run(job))
"""


def main() -> None:
    """Measure and print."""
    with ServerProcess({"default": "<answer>Vel Tor</answer>"}) as server:
        rows = [row for backend in _PATHS for row in asyncio.run(_latencies(backend, server))]
    show(
        f"relay: milliseconds from request to last byte, streamed, 38 kB sent, {REQUESTS} of each by turns",
        ["wire", "direct", "p95", "through the relay", "p95", "added"],
        rows,
        ["a new connection for each request, as from an agent's program; limits, usage and proof of the skill on"],
    )
    _kills()


async def _latencies(backend: str, server: ServerProcess) -> list[list[object]]:
    """Let a client in another process ask by turns."""
    config = Config()
    config.model.student_backend = backend
    config.model.student_base_url = server.base_url if backend == "codex_exec" else server.url
    upstream = connect_upstream(config, {}, environ={"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
    caller = Caller(
        upstream,
        Role.STUDENT,
        limiter=LocalLimiter(LimitsConfig(), time.monotonic),
        meter=Meter({}, BudgetConfig()),
        policy=RetryPolicy.of(LimitsConfig()),
        emit=lambda event: None,
        clock=time.monotonic,
        rng=Random(0),
    )
    relay = Relay(caller, upstream, 60.0)
    visit = Visit(
        nonce=Relay.new_nonce(),
        stage=Stage.ROLLOUT,
        phase=Phase.TRAIN,
        budget=WorkBudget(3600.0, time.monotonic),
        caps=Caps(10 * REQUESTS, 10**9),
        proof=Proof("# Skill"),
    )
    relay.admit(visit)
    path = _PATHS[backend]
    ways = [f"{server.url}{path}", f"http://127.0.0.1:{await relay.shared_port()}/{visit.nonce}{path}"]
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.relay_child", str(REQUESTS), *ways), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    await relay.aclose()
    await upstream.aclose()
    if child.returncode != 0 or visit.answers < REQUESTS:
        raise RuntimeError(f"the client ended with {child.returncode} after {visit.answers} answers")
    direct, relayed = json.loads(out)
    added = statistics.median(relayed) - statistics.median(direct)
    return [[path, statistics.median(direct), _p95(direct), statistics.median(relayed), _p95(relayed), added]]


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


def _kills() -> None:
    if not choose("auto").confinement.confined:
        print("  a killed reflact: not measured, nothing confines here")
        return
    times = [_after_a_kill() for _ in range(KILLS)]
    show(
        f"a reflact killed by SIGKILL: milliseconds until nothing of its job is left, {KILLS} times",
        ["job", "median", "longest"],
        [["a confined shell with three sleepers, two in sessions of their own", statistics.median(times), max(times)]],
    )


def _after_a_kill() -> float:
    with scratch() as name:
        command = [sys.executable, "-c", _CONFINED, str(Path(name)), _SLEEPERS]
        reflact = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert reflact.stdout is not None
        reflact.stdout.readline()
        time.sleep(0.2)  # until the last of them sleeps
        watched = [os.pidfd_open(pid) for pid in descendants(reflact.pid, 1000)[1:]]
        started = time.perf_counter()
        reflact.send_signal(signal.SIGKILL)
        _ended(watched)
        took = time.perf_counter() - started
        reflact.communicate()
        return 1000 * took


def _ended(handles: Sequence[int]) -> None:
    """Wait until all of the processes behind the handles have ended."""
    poll = select.poll()
    for handle in handles:
        poll.register(handle, select.POLLIN)
    left = set(handles)
    while left:
        for handle, _ in poll.poll(30_000):
            poll.unregister(handle)
            os.close(handle)
            left.discard(handle)
