"""The server as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from reflact.testing import ServerProcess
from reflact.testing.server import fingerprint

from .conftest import Fetch, chat

COMMAND = [sys.executable, "-m", "reflact.testing.server"]


def test_a_script_is_played_and_logged(fetch: Fetch) -> None:
    script = {"rules": [{"actions": [{"status": 429}, "42"]}]}
    with ServerProcess(script, require_auth="a-key") as server:
        headers = {"Authorization": "Bearer a-key"}
        url = f"{server.base_url}/chat/completions"
        assert [fetch(url, chat("hi"), headers).status for _ in range(2)] == [429, 200]
        assert fetch(url, chat("hi")).status == 401
        log = server.log()
    assert [line["status"] for line in log] == [429, 200, 401]
    assert log[0]["auth"] == fingerprint("a-key")
    assert log[1]["repeat"] == 1


def test_terminates_when_told(fetch: Fetch) -> None:
    process = subprocess.Popen([*COMMAND, "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        url = process.stdout.readline().strip()
        assert fetch(f"{url}/v1/models").status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_ends_with_its_parent() -> None:
    """A shell starts a server in the background and is killed; the server's pipe closes when it ends too."""
    shell = subprocess.Popen(
        ["/bin/sh", "-c", '"$@" & wait', "sh", *COMMAND], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert shell.stdout is not None
    with shell.stdout:
        assert shell.stdout.readline().startswith("http://127.0.0.1:")
        shell.kill()
        shell.wait()
        # End of file comes only when the last process that holds the pipe is gone.
        assert shell.stdout.read() == ""


def test_a_bad_script_is_refused_at_once(tmp_path: Path) -> None:
    for text, message in (("{", "not JSON"), ('{"rule": 1}', "unknown rule")):
        (tmp_path / "script.json").write_text(text)
        done = subprocess.run([*COMMAND, "--script", "script.json"], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr
