"""One run of a sweep: the same command as anyone would type, tied to the process that watches over it.

    python -m reflact.cli.child GRACE_S train|evaluate OVERRIDES...

Its standard input is a pipe that its watcher holds open and never writes to. When the watcher dies, however it dies,
the pipe closes: the run then stops as it does on SIGTERM, and is killed if it has not ended after the time of grace.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress

from reflact.confine.looking import descendants
from reflact.sweep.ending import NOTICES

_EASIER_TO_SPARE = "500"
"""Of a run and the process that watches over it, the memory killer should take the run."""


def main() -> None:
    """Entry point."""
    grace_s, command, *arguments = sys.argv[1:]
    for number in NOTICES:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, NOTICES)
    _hold_on(float(grace_s))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(_EASIER_TO_SPARE)
    sys.argv = [command, *arguments]
    if command == "evaluate":
        from reflact.cli.evaluate import main as run
    else:
        from reflact.cli.train import main as run
    run()


def _hold_on(grace_s: float) -> None:
    """Watch the lifeline, and keep it away from everything that reads standard input."""
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(lifeline, grace_s), name="reflact-lifeline", daemon=True).start()


def _watch(lifeline: int, grace_s: float) -> None:
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)
    for pid in reversed(descendants(os.getpid(), 4096)):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
