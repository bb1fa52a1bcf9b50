"""`reflact status` as a person runs it."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

from reflact.cli.status import status
from reflact.core.errors import ConfigError
from reflact.rundir.claim import Claim
from tests.report.script import Script

APP = "from reflact.cli.main import main; main()"


@pytest.fixture
def root(tmp_path):
    """A root with one run that this process owns."""
    script = Script(time.time())
    script.begin()
    script.start("baseline/selection", "selection", 20)
    script.row("baseline/selection", "a", after=0)
    with Claim.take(tmp_path / "one", resume=False, timeout_s=300, heartbeat_s=5):
        script.write(tmp_path / "one")
        yield tmp_path


def run(*arguments: str):
    app = typer.Typer()
    app.command()(status)
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_one_line_a_run_and_nothing_left_out_in_a_pipe(root):
    result = run(root)
    assert result.exit_code == 0
    header, line, total = result.output.rstrip().splitlines()
    assert line.startswith("LR-orders-8  running")
    assert "baseline/selection 1/20" in line
    assert total.startswith("1 run: 1 running")
    assert header.split()[:2] == ["run", "state"]


def test_json_is_one_document(root):
    data = json.loads(run(root, "--json").output)
    assert data["schema_version"] == 1
    assert data["runs"][0]["state"] == "running"
    assert data["runs"][0]["host"]


def test_an_empty_root_is_no_error(tmp_path):
    result = run(tmp_path)
    assert result.exit_code == 0
    assert "no runs below" in result.output


def test_a_root_that_is_not_there_is_named(tmp_path):
    result = run(tmp_path / "missing")
    assert isinstance(result.exception, ConfigError)
    assert str(tmp_path / "missing") in str(result.exception)


def test_looking_changes_nothing(root):
    def state():
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_atime_ns, path.lstat().st_ino)
            for path in sorted(root.rglob("*"))
            if "claims" not in path.parts
        }

    before = state()
    run(root)
    assert state() == before


def test_watch_on_a_terminal_shows_changes_and_ends_cleanly_on_ctrl_c(root):
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "20"}
    child = subprocess.Popen(
        [sys.executable, "-c", APP, "status", str(root), "--watch", "--interval", "0.2"],
        stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    output = b""

    def read_until(text: bytes | None) -> None:
        nonlocal output
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and (text is None or text not in output):
            if select.select([master], [], [], 0.1)[0]:
                try:
                    chunk = os.read(master, 65536)
                except OSError:
                    return
                if not chunk:
                    return
                output += chunk

    read_until(b"1/20")
    script = Script(time.time())
    script.row("baseline/selection", "b", after=0)
    script.write(root / "one")
    read_until(b"2/20")
    assert b"2/20" in output
    os.kill(child.pid, signal.SIGINT)
    read_until(None)
    assert child.wait(30) == 0
    os.close(master)
    assert b"Traceback" not in output
    # The alternate screen is left and the cursor is visible again; the last state stays on the screen.
    assert output.rfind(b"\x1b[?1049l") > output.rfind(b"\x1b[?1049h")
    assert output.rfind(b"\x1b[?25h") > output.rfind(b"\x1b[?25l")
    after = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", output[output.rfind(b"\x1b[?1049l") :])
    assert b"LR-orders-8" in after


def test_watch_in_a_pipe_prints_json_lines_until_it_is_ended(root):
    child = subprocess.Popen(
        [sys.executable, "-c", APP, "status", str(root), "--watch", "--json", "--interval", "0.2"],
        stdout=subprocess.PIPE,
    )
    first, second = json.loads(child.stdout.readline()), json.loads(child.stdout.readline())
    child.terminate()
    assert child.wait(30) == 0
    assert second["time"] > first["time"]


def test_without_a_folder_it_looks_where_runs_go(root, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/outputs").symlink_to(root)
    monkeypatch.chdir(tmp_path / "work")
    assert "LR-orders-8" in run().output
    monkeypatch.chdir(tmp_path / "one")
    assert "there is no folder outputs here; say where the runs are" in str(run().exception)
