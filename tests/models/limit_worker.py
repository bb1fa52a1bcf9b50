"""A run as limits see it: a caller with the real client, in a process of its own."""

from __future__ import annotations

import asyncio
import time
from multiprocessing.connection import Connection
from random import Random
from typing import Any

import aiohttp  # noqa: F401 - loaded once for all processes
import openai  # noqa: F401

from reflact.config.operation import LimitsConfig
from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limit_making import make_limiter
from reflact.models.meter import Meter
from reflact.models.openai_chat import connect
from reflact.models.protocol import ChatRequest, Message
from reflact.models.registry import limit_key


def work(line: Connection, environ: dict[str, str], url: str, name: str, calls: int, workers: int, limits: Any) -> None:
    """Say that all is loaded, begin at a sign, send figures."""
    line.send("ready")
    line.recv()
    line.send(asyncio.run(_work(environ, url, name, calls, workers, LimitsConfig(**limits))))


async def _work(
    environ: dict[str, str], url: str, name: str, calls: int, workers: int, limits: LimitsConfig
) -> dict[str, Any]:
    config = Config()
    config.model.student_base_url = url
    key = limit_key(config, Role.STUDENT, environ)
    limiter = make_limiter(key, limits, lambda event: None, remote=True, environ=environ)
    caller = Caller(
        connect(config, Role.STUDENT, environ=environ),
        Role.STUDENT,
        limiter=limiter,
        meter=Meter({}),
        policy=RetryPolicy.of(limits),
        emit=lambda event: None,
        clock=time.monotonic,
        rng=Random(),
        in_flight=workers,
    )
    numbers = iter(range(calls))
    done: list[str] = []

    async def ask() -> None:
        for number in numbers:
            request = ChatRequest((Message("user", f"{name} {number}"),), max_completion_tokens=20, timeout_s=30)
            assert (await caller.ask(request, stage="rollout", phase="train")).text == "fine"
            done.append(f"{name} {number}")

    cpu, began = time.process_time(), time.monotonic()
    await asyncio.gather(*[ask() for _ in range(workers)])
    figures = {"done": done, "cpu_s": time.process_time() - cpu, "wall_s": time.monotonic() - began}
    await caller.aclose()
    await limiter.aclose()
    return figures
