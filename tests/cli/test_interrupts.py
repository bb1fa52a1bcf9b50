"""A signal ends a command as interrupted, wherever it comes up, and is not forgotten where its exception gets lost."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from reflact.core.errors import Stopped
from reflact.core.interrupts import Interrupt, interruption, listen, require_uninterrupted
from tests.cli.commands import line

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


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(0)", "raise SystemExit(75)"])
def test_a_signal_that_comes_when_all_is_done_changes_nothing(tmp_path: Path, end: str) -> None:
    code = 75 if "75" in end else 0
    assert ended(tmp_path, f"import atexit\natexit.register(lambda: exec({KILL!r}))\n{end}") == (code, "")


def test_what_hydra_trips_over_after_a_signal_shows_no_traceback(tmp_path: Path) -> None:
    body = (
        "import sys\nfrom reflact.cli.hydra_app import start\n"
        "from hydra._internal.hydra import Hydra\n"
        f"def run(*args, **kwargs):\n    try:\n        {KILL}\n    finally:\n        None.half_made\n"
        "Hydra.run = run\nsys.argv = ['here', 'harness=rehearsal']\nstart('here', lambda node: 0.0)"
    )
    assert ended(tmp_path, body) == (75, "here: interrupted\n")


@pytest.mark.parametrize(
    ("program", "words", "code"),
    [
        ("reflact-train", ["--cfg", "job"], 0),
        ("reflact-train", ["--help"], 0),
        ("reflact", ["keys"], 0),
        ("reflact", ["--help"], 0),
        ("reflact", ["status", "nowhere"], 2),
    ],
)
@pytest.mark.parametrize("buffered", [True, False])
def test_who_reads_only_the_head_of_what_is_printed_has_seen_enough(
    tmp_path: Path, program: str, words: list[str], code: int, buffered: bool
) -> None:
    command = shlex.join(line(program, *words))
    script = f"{{ {command}; echo $? >code; }} | true"  # nobody reads when it begins to write
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environment |= {} if buffered else {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, timeout=120)
    assert (tmp_path / "code").read_text() == f"{code}\n", done.stderr
    assert b"Broken pipe" not in done.stderr and bool(done.stderr) == bool(code)


def test_an_end_that_hangs_is_cut_short_by_a_signal(tmp_path: Path) -> None:
    body = "import threading\nthreading.Thread(target=threading.Event().wait).start()\nprint('done', flush=True)"
    lines = [f"    {line}" for line in body.splitlines()]
    program = ["from reflact.cli.errors import guarded", "def work():", *lines, "guarded('here', work)"]
    (tmp_path / "here.py").write_text("\n".join(program) + "\n", encoding="utf-8")
    hanging = subprocess.Popen([sys.executable, "-m", "here"], cwd=tmp_path, stdout=subprocess.PIPE)
    assert hanging.stdout is not None and hanging.stdout.readline() == b"done\n"
    while hanging.poll() is None:
        hanging.terminate()
        with suppress(subprocess.TimeoutExpired):
            hanging.wait(0.5)
    assert hanging.returncode in (0, 75), "75: the first signal came before the command had ended"


def test_programs_that_are_started_at_the_end_do_not_ignore_signals(tmp_path: Path) -> None:
    dies = "import signal, os; os.kill(os.getpid(), signal.SIGTERM)"
    body = (
        "import atexit, subprocess, sys\n"
        f"atexit.register(lambda: print(subprocess.run([sys.executable, '-c', {dies!r}]).returncode, file=sys.stderr))"
    )
    assert ended(tmp_path, body) == (0, "-15\n")
