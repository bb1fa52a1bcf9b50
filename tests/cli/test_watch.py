"""The dashboard as a person at a terminal sees it; a terminal emulator keeps the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

from reflact.rundir.claim import Claim
from tests.report.script import Script

APP = "from reflact.cli.main import main; main()"
DEADLINE_S = 60


class Seat:
    """A person at a terminal in which the dashboard runs."""

    def __init__(self, root: Path, *, app: str = APP, keyboard: bool = True) -> None:
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._master, self.slave = pty.openpty()
        self.resize(80, 24)
        self.before = termios.tcgetattr(self.slave)
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        self.child = subprocess.Popen(
            [sys.executable, "-c", app, "status", str(root), "--watch", "--interval", "0.2"],
            stdin=self.slave if keyboard else subprocess.DEVNULL, stdout=self.slave, stderr=self.slave,
            env={**env, "TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if hasattr(self, "child"):
            self.screen.resize(lines, columns)
            self.child.send_signal(signal.SIGWINCH)

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def see(self, holds: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the screen is as wanted."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds(self.shown):
            assert time.monotonic() < deadline, "\n".join(self.shown)
            self._take(0.1)
        return self.shown

    def leave(self) -> int:
        """Wait for the dashboard's end."""
        deadline = time.monotonic() + DEADLINE_S
        while self.child.poll() is None:
            assert time.monotonic() < deadline
            self._take(0.1)
        while self._take(0.0):
            pass
        return self.child.returncode

    @property
    def shown(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        os.close(self.slave)
        os.close(self._master)

    def _take(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        data = os.read(self._master, 65536)
        self.raw += data
        self._stream.feed(data)
        return True


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Forty runs that were stopped, and one that this process owns."""
    for number in range(40):
        script = Script(time.time() - 100)
        script.begin(run_id=f"LR-orders-{number:02d}")
        script.stop()
        path = script.write(tmp_path / f"LR-orders-{number:02d}")
        (path / "claims").mkdir()
        (path / "claims" / "0001.released").write_text("", encoding="utf-8")
    script = Script(time.time())
    script.begin(run_id="UNDER-WAY")
    script.phase("baseline/selection", "selection", 20, each=0.0)
    script.start("steps/step_0001/rollout", "train", 40, step=1, epoch=1)
    script.retry(429, 2, wait=900.0, stage="rollout", phase="train")
    with Claim.take(tmp_path / "zz", resume=False, timeout_s=300, heartbeat_s=5):
        script.write(tmp_path / "zz")
        yield tmp_path


@pytest.fixture
def seat(root: Path) -> Iterator[Seat]:
    found = Seat(root)
    found.see(lambda lines: lines[1].startswith("1  UNDER-WAY"))
    yield found
    found.close()


def restored(seat: Seat) -> bool:
    """Whether the terminal is as it was: its modes, the cursor, the ordinary screen."""
    return (
        termios.tcgetattr(seat.slave) == seat.before
        and seat.raw.rfind(b"\x1b[?1049l") > seat.raw.rfind(b"\x1b[?1049h")
        and seat.raw.rfind(b"\x1b[?25h") > seat.raw.rfind(b"\x1b[?25l")
    )


def test_many_runs_are_scrolled_and_one_is_looked_at(seat: Seat) -> None:
    seat.see(lambda lines: lines[-1].startswith("0 above, 21 below"))
    seat.press(b"\x1b[6~\x1b[6~")
    seat.see(lambda lines: any("LR-orders-39" in line for line in lines))
    seat.press(b"g1")
    detail = seat.see(lambda lines: "zz" in lines[1] and lines[-1].startswith("esc back"))
    text = "\n".join(detail)
    assert "steps/step_0001/rollout" in text and "retry 2 of 5 (429)" in text and "429 ×1 so far" in text
    seat.press(b"\x1b")
    seat.see(lambda lines: lines[1].startswith("1  UNDER-WAY"))
    seat.press(b"?")
    seat.see(lambda lines: lines[0] == "Keys")
    seat.press(b"x")
    seat.see(lambda lines: lines[1].startswith("1  UNDER-WAY"))
    seat.press(b"q")
    assert seat.leave() == 0
    assert restored(seat) and b"Traceback" not in seat.raw


def test_another_size_is_used_at_once(seat: Seat) -> None:
    seat.resize(120, 50)
    seat.see(lambda lines: len([line for line in lines if "LR-orders-" in line]) == 40)
    seat.resize(60, 10)
    seat.see(lambda lines: len(lines) == 10 and "35 below" in lines[-1])
    seat.press(b"q")
    assert seat.leave() == 0 and restored(seat)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_terminal_as_it_was(seat: Seat, number: signal.Signals) -> None:
    seat.press(b"1")
    seat.see(lambda lines: "zz" in lines[1])
    seat.child.send_signal(number)
    assert seat.leave() == 0
    assert restored(seat)


def test_an_error_leaves_the_terminal_as_it_was_too(root: Path) -> None:
    seat = Seat(root, app=f"import reflact.report.watch.run as run; run.detail = lambda *a: 1 / 0; {APP}")
    try:
        seat.see(lambda lines: lines[1].startswith("1  UNDER-WAY"))
        seat.press(b"1")
        assert seat.leave() == 1
        assert restored(seat)
        assert seat.raw.find(b"ZeroDivisionError") > seat.raw.rfind(b"\x1b[?1049l")
    finally:
        seat.close()


def test_ctrl_z_gives_the_terminal_back_until_the_run_goes_on(seat: Seat) -> None:
    seat.child.send_signal(signal.SIGTSTP)
    deadline = time.monotonic() + DEADLINE_S
    while os.waitid(os.P_PID, seat.child.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is None:
        assert time.monotonic() < deadline
        seat._take(0.05)
    while seat._take(0.1):
        pass
    assert restored(seat)
    seat.child.send_signal(signal.SIGCONT)
    seat.see(lambda lines: lines[1].startswith("1  UNDER-WAY"))
    seat.press(b"q")
    assert seat.leave() == 0 and restored(seat)


def test_without_a_keyboard_it_shows_and_leaves_on_a_signal(root: Path) -> None:
    seat = Seat(root, keyboard=False)
    try:
        shown = seat.see(lambda lines: any("UNDER-WAY" in line for line in lines) and "Ctrl-C" in lines[-1])
        assert not any(line.startswith("1 ") for line in shown)
        seat.child.send_signal(signal.SIGINT)
        assert seat.leave() == 0 and restored(seat)
    finally:
        seat.close()
