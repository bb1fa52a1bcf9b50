"""A scripted server in a process of its own that counts what is in flight."""

from __future__ import annotations

import asyncio
import time
from multiprocessing.connection import Connection
from typing import Any

from reflact.testing import Fault, Reply, ScriptedServer, SeenRequest


class Counting:
    """Answers after a while; a request whose text begins with `limit` gets a 429 that asks for that many seconds."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._in_flight = 0
        self.seen: dict[str, Any] = {"most": 0, "answered": [], "started": [], "load": []}

    async def __call__(self, seen: SeenRequest) -> Reply | Fault:
        self._in_flight += 1
        self.seen["most"] = max(self.seen["most"], self._in_flight)
        self.seen["load"].append((seen.user, self._in_flight))
        self.seen["started"].append((seen.user, time.clock_gettime(time.CLOCK_BOOTTIME)))
        try:
            if seen.user.startswith("limit") and not seen.repeat:
                return Fault.http(429, retry_after_s=float(seen.user.split()[1]))
            await asyncio.sleep(self._latency_s)
            self.seen["answered"].append(seen.user)
            return Reply("fine", latency_s=0.0)
        finally:
            self._in_flight -= 1


def serve(line: Connection, latency_s: float) -> None:
    """Send the URL, then answer whatever comes with what was seen so far; None is the end."""
    counting = Counting(latency_s)
    with ScriptedServer(counting) as server:
        line.send(server.base_url)
        while line.recv() is not None:
            line.send(counting.seen)
