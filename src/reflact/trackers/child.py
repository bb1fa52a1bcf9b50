"""A tracker's own process: `python -m reflact.trackers.child NAME CLOSE_TIMEOUT_S`, with records on its standard input.

When the input ends, whether the run closed it or was killed, the tracker has its time to finish and is then ended with
everything that it started: nothing is left behind.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from typing import Any

from reflact.trackers.protocol import Begin, End, Tracker

_GRACE_S = 5.0
"""The run ends a process that is late; this one ends itself only where nobody does."""


def main() -> None:
    """Entry point."""
    name, timeout_s = sys.argv[1], float(sys.argv[2])
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_read, args=(lines, timeout_s + _GRACE_S), daemon=True).start()
    from reflact.trackers.registry import make_tracker

    serve(make_tracker(name), lines)


def serve(tracker: Tracker, lines: queue.Queue[bytes | None]) -> None:
    """Hand records to a tracker until there are no more."""
    begun = ended = False
    while (line := lines.get()) is not None:
        record: dict[str, Any] = json.loads(line)
        if "begin" in record:
            tracker.begin(Begin(**record["begin"]))
            begun = True
        elif "end" in record:
            tracker.end(End(**record["end"]))
            ended = True
        else:
            tracker.metrics(record["metrics"], int(record["step"]), float(record["t"]))
    if begun and not ended:
        tracker.end(End("failed", "the run's process is gone"))


def _read(lines: queue.Queue[bytes | None], patience_s: float) -> None:
    """Read ahead, so that the end of the input is seen also while the tracker hangs."""
    pending = b""
    # Not through `sys.stdin`: the interpreter could not end while this thread holds its lock.
    while data := os.read(0, 1 << 16):
        *whole, pending = (pending + data).split(b"\n")
        for line in whole:
            lines.put(line)
    lines.put(None)
    time.sleep(patience_s)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
