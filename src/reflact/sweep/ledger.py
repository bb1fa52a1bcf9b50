"""What became of each run of a sweep, as it happened: `<root>/ledger/<host>-<pid>-<start>.jsonl`.

Every process writes a file of its own, since appends of two hosts to one file lose lines on network file systems.
`ledger.jsonl` in the root is put together from them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reflact.config.run_id import safe
from reflact.core.names import RunState
from reflact.rundir.atomic import write_all, write_bytes
from reflact.rundir.encoding import json_bytes
from reflact.rundir.jsonl import read_jsonl
from reflact.rundir.owner import this_process

FOLDER = "ledger"
COMPILED = "ledger.jsonl"


class Ledger:
    """This process's file.

    Args:
        root: The sweep's root.
        clock: Returns unix seconds.
    """

    def __init__(self, root: Path, clock: Callable[[], float]) -> None:
        me = this_process()
        self._path = root / FOLDER / f"{safe(me.host)}-{me.pid}-{me.started or 0}.jsonl"
        self._clock = clock
        self._host, self._pid = me.host, me.pid

    def write(
        self,
        run_id: str,
        state: RunState,
        *,
        benchmark: str,
        out_dir: str,
        attempt: int = 1,
        cause: str = "",
        message: str = "",
        pid: int | None = None,
        host: str | None = None,
        job: str = "",
    ) -> None:
        """Append the state that a run has reached.

        Args:
            run_id: Its id.
            state: The state.
            benchmark: Its benchmark.
            out_dir: Its directory.
            attempt: Which attempt it is.
            cause: Why it failed or stopped.
            message: The same in words.
            pid: The run's own process; None is this one.
            host: The machine of that process; None is this one.
            job: Its number in a cluster.
        """
        line = {
            "t": round(self._clock(), 3),
            "run_id": run_id,
            "state": state.value,
            "cause": cause,
            "message": message,
            "benchmark": benchmark,
            "out_dir": out_dir,
            "attempt": attempt,
            "host": self._host if host is None else host,
            "pid": self._pid if pid is None else pid,
            **({"job": job} if job else {}),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            write_all(fd, json_bytes(line))
            os.fsync(fd)
        finally:
            os.close(fd)


def compile_ledger(root: Path) -> None:
    """Write `ledger.jsonl`: the lines of all processes in the order of time; equal content gives equal bytes."""
    lines = sorted(_lines(root / FOLDER), key=lambda line: line[0])
    write_bytes(root / COMPILED, b"".join(json_bytes(line) for _, line in lines))


def _lines(folder: Path) -> Iterator[tuple[tuple[float, str, int], dict[str, Any]]]:
    for path in sorted(folder.glob("*.jsonl")):
        for offset, line in read_jsonl(path):
            yield (float(line["t"]), path.name, offset), line
