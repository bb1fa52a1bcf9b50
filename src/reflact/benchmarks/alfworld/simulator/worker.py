"""The program of a worker process: reads requests, answers them, ends with the process that started it.

Call: `python -m reflact.benchmarks.alfworld.simulator.worker PARENT_PID MEMORY_BYTES`.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from reflact.benchmarks.alfworld.simulator.messages import Reply, Request, State, read_request, write_reply

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Set the process up and answer until there is nobody to ask."""
    parent, memory = int(arguments[0]), int(arguments[1])
    end_with(parent)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Whatever the engine prints must not stand between the replies.
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        from reflact.benchmarks.alfworld.simulator.engine import Engine

        serve(sys.stdin.buffer, replies, Engine().do)


def end_with(parent: int) -> None:
    """Let the kernel end this process when its parent ends, however that ends; elsewhere the closed pipe does it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit("the parent ended first")


def serve(requests: BinaryIO, replies: BinaryIO, do: Callable[[Request], State | None]) -> None:
    """Answer line by line until the pipe is closed. What the engine raises is an answer; the asker decides."""
    for line in requests:
        number, request = read_request(line)
        state, problem = None, None
        try:
            state = do(request)
        except Exception as error:  # noqa: BLE001 - any failure of the engine concerns the game, and is told
            problem = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        replies.write(write_reply(Reply(number, resident(), state, problem)))
        replies.flush()


def resident(statm: Path = Path("/proc/self/statm")) -> int:
    """Return this process's resident memory in bytes; where the system does not say, its peak."""
    try:
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(sys.argv[1:])
