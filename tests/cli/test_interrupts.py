"""A signal ends a command as interrupted, wherever it comes up, and is not forgotten where its exception gets lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reflact.core.errors import Stopped
from reflact.core.interrupts import Interrupt, interruption, listen, require_uninterrupted

KILL = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"


def ended(folder: Path, body: str) -> tuple[int, str]:
    """Run a body as the work of a command started with `-m`; return its exit code and what it says."""
    lines = [f"    {line}" for line in body.splitlines()]
    program = ["from reflact.cli.errors import guarded", "def work():", *lines, "guarded('here', work)"]
    (folder / "here.py").write_text("\n".join(program) + "\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "here"], cwd=folder, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    "body",
    [
        KILL,
        f"exec({KILL!r})",  # where the interpreter takes note of an interruption that nobody caught
        f"try:\n    {KILL}\nfinally:\n    None.half_made",
        f"try:\n    {KILL}\nexcept BaseException:\n    raise SystemExit(130)",  # as typer does
        f"try:\n    {KILL}\nexcept BaseException:\n    raise OSError(13, 'no', 'x')",
        f"from reflact.core.errors import ConfigError\ntry:\n    {KILL}\nfinally:\n    raise ConfigError('half read')",
    ],
)
def test_whatever_comes_up_after_a_signal_the_command_was_interrupted(tmp_path: Path, body: str) -> None:
    assert ended(tmp_path, body) == (75, "here: interrupted\n")


def test_a_second_signal_changes_nothing_any_more(tmp_path: Path) -> None:
    body = f"import atexit\natexit.register(lambda: exec({KILL!r}))\n{KILL}"
    assert ended(tmp_path, body) == (75, "here: interrupted\n")


def test_who_ends_well_after_a_signal_ends_well(tmp_path: Path) -> None:
    assert ended(tmp_path, f"try:\n    {KILL}\nexcept KeyboardInterrupt:\n    pass") == (0, "")


def test_an_error_without_a_signal_is_what_it_is(tmp_path: Path) -> None:
    code, said = ended(tmp_path, "1 / 0")
    assert code == 1 and "ZeroDivisionError" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_long_begins_after_a_signal_whose_exception_got_lost(number: signal.Signals) -> None:
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
    listen()
    require_uninterrupted()
    with pytest.raises(Interrupt):
        signal.raise_signal(number)
    assert interruption() == number.name
    with pytest.raises(Stopped, match=f"interrupted by {number.name}"):
        require_uninterrupted()
    listen()
    assert interruption() == "", "another command in this process"


def test_a_run_does_not_begin_after_a_signal_whose_exception_got_lost(tmp_path: Path) -> None:
    body = (
        "from reflact.engine.running import run_interruptibly\n"
        "async def never():\n    print('began')\n"
        f"try:\n    {KILL}\nexcept KeyboardInterrupt:\n    pass\n"
        "run_interruptibly(never)"
    )
    assert ended(tmp_path, body) == (75, "here: interrupted by SIGTERM\n")
