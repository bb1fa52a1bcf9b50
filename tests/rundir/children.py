"""Real processes that own runs, told what to do line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

OWNER = """
import json, os, sys
from pathlib import Path
from reflact.core.errors import ReflactError
from reflact.rundir.claim import Claim

claim = None
for line in sys.stdin.buffer:
    order = json.loads(line)
    try:
        if order["do"] == "take":
            root, more = Path(order["root"]), {name: order[name] for name in ("resume", "heartbeat_s")}
            claim = Claim.take(root, timeout_s=300, **more)
            answer = {"ok": True, "number": claim.number, "pid": os.getpid()}
        elif order["do"] == "check":
            claim.check()
            answer = {"ok": True}
        else:
            claim.release()
            answer = {"ok": True}
    except ReflactError as error:
        answer = {"ok": False, "code": int(error.exit_code), "message": str(error)}
    print(json.dumps(answer), flush=True)
"""


class Child:
    """A Python process; killed at the end whatever happens."""

    def __init__(self, code: str = OWNER, *args: str, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    @property
    def pid(self) -> int:
        return self.process.pid

    def order(self, do: str, **more: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do, **more}).encode() + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.line())
        return answer

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        self.order(do, **more)
        return self.answer()

    def take(self, root: Path, *, resume: bool = False, heartbeat_s: float = 15) -> dict[str, Any]:
        return self.ask("take", root=str(root), resume=resume, heartbeat_s=heartbeat_s)

    def kill(self) -> None:
        """Kill it and wait until it is gone, but leave the zombie."""
        self.process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def stop(self) -> None:
        """Stop it and wait until it stands still."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)
