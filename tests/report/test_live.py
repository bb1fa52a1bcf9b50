"""The display on a real (pseudo) terminal, in a pipe, and when things end badly."""

import contextlib
import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from reflact.config.schema import Config
from reflact.core.events import PhaseStarted, RowFinished, RunStarted
from reflact.report.live import choose_mode, make_display

CHILD = """
import sys, time
from reflact.config.schema import Config
from reflact.core.events import CallRetried, PhaseStarted, RowFinished, RunStarted
from reflact.report.live import make_display

ending = sys.argv[1]
config = Config()
with make_display(config) as emit:
    emit(RunStarted("LR-orders-8", "orders", "openai_chat", "small", "large", False, False, 1, "h", 2, 4,
                    {"train": 40, "selection": 20, "test": 60}))
    emit(PhaseStarted("steps/step_0003/selection", "selection", 20, 0, 1, 3))
    for item in range(19):
        emit(RowFinished("steps/step_0003/selection", "\\x1b[31m[red]%d" % item, "ok", None, 1.0, 1.0, 1, 1.0, 0.0))
    emit(CallRetried("student", "gate", "selection", "server", 503, 2, 6, 30.0, None, "503"))
    time.sleep(0.6)
    print("a line of the program")
    if ending == "error":
        raise RuntimeError("something broke")
    if ending == "signal":
        print("waiting", flush=True)
        time.sleep(60)
"""

SHOW, HIDE = b"\x1b[?25h", b"\x1b[?25l"


class Terminal:
    """A child process on a pseudo terminal."""

    def __init__(self, ending: str, *, columns: int = 80, **environ: str) -> None:
        self.master, slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        env |= {"TERM": "xterm-256color", **environ}
        self.child = subprocess.Popen(
            [sys.executable, "-c", CHILD, ending],
            stdin=slave, stdout=slave, stderr=slave, env=env, close_fds=True, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.output = b""

    def read(self, until: bytes | None = None, timeout: float = 30.0) -> bytes:
        """Read until a text came, or until the child closed its end."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and (until is None or until not in self.output):
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if not ready:
                continue
            with contextlib.suppress(OSError):
                if chunk := os.read(self.master, 65536):
                    self.output += chunk
                    continue
            break
        return self.output

    def close(self) -> int:
        code = self.child.wait(30)
        os.close(self.master)
        return code


def screen_text(output: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output.decode("utf-8", "replace"))


@pytest.mark.parametrize("columns", [80, 24, 200])
def test_a_terminal_shows_the_panel_and_gets_its_cursor_back(columns):
    terminal = Terminal("well", columns=columns)
    output = terminal.read()
    assert terminal.close() == 0
    text = screen_text(output)
    assert "LR-orders-8" in text
    assert "19/20" in text
    if columns >= 80:
        assert "1 waiting, retry 2 of 5 (503)" in text
        assert "a line of the program" in text
    assert HIDE in output
    assert output.rfind(SHOW) > output.rfind(HIDE)


def test_an_exception_restores_the_terminal_and_is_seen():
    terminal = Terminal("error")
    output = terminal.read()
    assert terminal.close() == 1
    assert "RuntimeError: something broke" in screen_text(output)
    assert output.rfind(SHOW) > output.rfind(HIDE)


def test_ctrl_c_restores_the_terminal():
    terminal = Terminal("signal")
    terminal.read(until=b"waiting\r\n")
    os.kill(terminal.child.pid, signal.SIGINT)
    output = terminal.read()
    assert terminal.close() in (1, 130, -signal.SIGINT)
    assert output.rfind(SHOW) > output.rfind(HIDE)


def test_a_dumb_terminal_gets_plain_lines():
    terminal = Terminal("well", TERM="dumb")
    output = terminal.read()
    assert terminal.close() == 0
    assert b"\x1b" not in output
    assert b"steps/step_0003/selection: 20 rows" in output


def test_a_terminal_without_utf8_gets_ascii():
    terminal = Terminal("well", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    output = terminal.read()
    assert terminal.close() == 0
    assert "19/20" in screen_text(output)
    output.decode("ascii")


def test_redirected_output_is_plain_and_ascii_where_it_must_be():
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", CHILD, "well"], capture_output=True, env=env, check=True)
    assert done.stdout == b"a line of the program\n"
    assert b"\x1b" not in done.stderr
    done.stderr.decode("ascii")
    assert b"run LR-orders-8 begins" in done.stderr


class NoTerminal(io.StringIO):
    encoding = "utf-8"


class Broken(io.StringIO):
    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise BrokenPipeError


def run_started() -> RunStarted:
    return RunStarted("r", "orders", "h", "s", "t", False, False, 1, "h", 1, 1)


def test_what_comes_last_is_still_shown():
    stream = NoTerminal()
    with make_display(Config(), stream=stream) as emit:
        emit(run_started())
        emit(PhaseStarted("baseline/selection", "selection", 3, 0))
    assert "baseline/selection: 3 rows" in stream.getvalue()


def test_off_shows_nothing():
    config, stream = Config(), NoTerminal()
    config.display.mode = "off"
    with make_display(config, stream=stream) as emit:
        emit(run_started())
    assert stream.getvalue() == ""


def test_a_stream_that_breaks_does_not_break_the_run():
    with make_display(Config(), stream=Broken()) as emit:
        for _ in range(100):
            emit(run_started())


def test_emitting_costs_the_loop_next_to_nothing():
    row = RowFinished("baseline/selection", "a", "ok", None, 1.0, 1.0, 1, 1.0, 0.0)
    with make_display(Config(), stream=NoTerminal()) as emit:
        emit(PhaseStarted("baseline/selection", "selection", 10_000, 0))
        began = time.thread_time()
        for _ in range(10_000):
            emit(row)
        assert time.thread_time() - began < 0.5, "more than 50 microseconds an event"


def test_a_resumed_run_shows_what_was_done_before(tmp_path):
    from tests.report.script import Script

    script = Script()
    script.begin()
    script.call(tokens=1000)
    script.write(tmp_path)
    config, stream = Config(), NoTerminal()
    config.run.resume, config.env.out_root = True, str(tmp_path)
    with make_display(config, stream=stream) as emit:
        emit(run_started())
        from reflact.core.events import RunFinished

        emit(RunFinished("completed"))
    assert "1.1k tokens" in stream.getvalue()


@pytest.mark.parametrize(
    ("asked", "terminal", "term", "mode"),
    [
        ("auto", True, "xterm", "live"),
        ("auto", False, "xterm", "plain"),
        ("auto", True, "dumb", "plain"),
        ("auto", True, "", "plain"),
        ("live", False, "xterm", "plain"),
        ("live", True, "xterm", "live"),
        ("plain", True, "xterm", "plain"),
        ("off", True, "xterm", "off"),
    ],
)
def test_the_mode_follows_the_terminal(asked, terminal, term, mode):
    stream = NoTerminal()
    stream.isatty = lambda: terminal
    assert choose_mode(asked, stream, {"TERM": term}) == mode


def test_rich_is_not_imported_where_nothing_is_drawn():
    code = "import sys, reflact.report.live, reflact.report.closing; assert 'rich' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
