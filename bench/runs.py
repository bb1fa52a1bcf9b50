"""Runs against a scripted server in another process, measured from both ends."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.testing import ServerProcess

LATENCY_S = 0.25
SLOTS = 64


@dataclass(frozen=True, slots=True)
class Call:
    """A model call as the server saw it; times in seconds since the first one."""

    started: float
    ended: float
    teacher: bool
    left: bool

    @property
    def seconds(self) -> float:
        """How long it was open."""
        return self.ended - self.started


@dataclass(frozen=True, slots=True)
class Measured:
    """A run.

    Attributes:
        calls: Its calls in order of arrival.
        figures: What `bench.child` measured of its process.
        root: The run directory.
    """

    calls: tuple[Call, ...]
    figures: Mapping[str, Any]
    root: Path

    @property
    def span_s(self) -> float:
        """From the first request to the last reply."""
        return max(call.ended for call in self.calls)

    @property
    def summed_s(self) -> float:
        """Sum of the latencies."""
        return sum(call.seconds for call in self.calls)

    @property
    def cpu_ms(self) -> float:
        """CPU time of the run's process by call."""
        return 1000 * float(self.figures["cpu_s"]) / len(self.calls)


def run(
    kind: str, script: Mapping[str, Any], folder: Path, overrides: Sequence[str], *, latency_s: float = LATENCY_S
) -> Measured:
    """Train or evaluate in a process of its own, against a server in another one.

    Args:
        kind: `train` or `evaluate`.
        script: The server's script.
        folder: Where the run directory (`run`) and the figures go.
        overrides: The configuration.
        latency_s: Of the server.
    """
    folder.mkdir(parents=True)
    figures = folder / "figures.json"
    with ServerProcess(script, latency_s=latency_s) as server:
        settings = [
            "harness=openai_chat",
            f"model.student_base_url={server.base_url}",
            f"model.teacher_base_url={server.base_url}",
            f"env.out_root={folder / 'run'}",
            f"env.workers={SLOTS}",
            "display.mode=off",
            *overrides,
        ]
        subprocess.run([sys.executable, "-m", "bench.child", kind, str(figures), *settings], check=True)
        log = server.log()
    return Measured(_calls(log), json.loads(figures.read_text(encoding="utf-8")), folder / "run")


def _calls(log: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    calls = sorted((line for line in log if line["wire"] == "chat"), key=lambda line: line["started_s"])
    first = calls[0]["started_s"]
    return tuple(
        Call(
            line["started_s"] - first, line["ended_s"] - first, bool(line["schema_name"]), line["outcome"] != "answered"
        )
        for line in calls
    )


def scratch() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that goes away."""
    return tempfile.TemporaryDirectory(prefix="reflact-bench-")
