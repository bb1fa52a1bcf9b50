"""A reflact that is killed at once takes everything with it that its agents started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reflact.confine.looking import descendants
from reflact.testing import Fault, Reply, ScriptedServer, ToolCall
from reflact.testing.exchange import SeenRequest
from tests.harness.agents.support import BOTH, CLAUDE, CODEX, need, need_bubblewrap, url_of
from tests.harness.agents.test_real import shell

ROOT = Path(__file__).parents[3]
RUN = """
import json, sys
import pytest
from tests.harness.agents.support import bench
bench(pytest.MonkeyPatch(), sys.argv[1], sys.argv[2], **json.loads(sys.argv[3])).one()
"""
USE = {CODEX: "model__codex_exec_use_sdk", CLAUDE: "model__claude_code_exec_use_sdk"}
PATIENCE_S = 60.0

Life = tuple[int, str]
"""A process id, and the tick at which it was started: an id may come again."""


def life(pid: int) -> Life | None:
    """Return a living process, None if it has ended; one that only waits to be forgotten has."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (pid, fields[19])


def left_of(lives: set[Life]) -> set[Life]:
    return {one for one in lives if life(one[0]) == one}


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("sdk", [False, True], ids=["cli", "sdk"])
@pytest.mark.parametrize("backend", BOTH)
def test_nothing_is_left_of_a_killed_reflact(backend: str, sdk: bool, tmp_path: Path) -> None:
    need(backend)
    need_bubblewrap()
    nap = f"sleep {600_000 + os.getpid()}"
    # One that left its session, and one that left its parent too and ignores what can be ignored.
    stay = f"setsid {nap} & (setsid nohup sh -c 'trap \"\" TERM INT HUP; {nap}; {nap}' >/dev/null 2>&1 &) ; sleep 0.3"
    waiting = threading.Event()

    def responder(seen: SeenRequest) -> Reply | Fault:
        if seen.number == 1:
            # Codex ends what a command left when the command ends, so there it must not end.
            cmd = {"cmd": f"{stay}; {nap}", "yield_time_ms": 1000}
            return shell(backend, stay) if backend == CLAUDE else Reply(tool_calls=(ToolCall("exec_command", cmd),))
        waiting.set()
        return Fault.hang()

    with ScriptedServer(responder) as server:
        more = json.dumps({USE[backend]: sdk})
        reflact = subprocess.Popen(
            [sys.executable, "-c", RUN, backend, url_of(server, backend), more],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            start_new_session=True,
        )
        try:
            assert waiting.wait(PATIENCE_S)
            pids = descendants(reflact.pid, 1000)
            started = {one for one in map(life, pids) if one is not None}
            sleepers = [pid for pid in pids if command_of(pid).startswith(nap)]
        finally:
            os.kill(reflact.pid, signal.SIGKILL)
            reflact.wait(PATIENCE_S)
        assert len(sleepers) >= 2, "both were there to be ended"
        give_up = time.monotonic() + PATIENCE_S
        while left_of(started) and time.monotonic() < give_up:
            time.sleep(0.005)
        assert left_of(started) == set()
