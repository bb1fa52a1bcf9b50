"""Tab completion in a real, interactive bash: commands, options, groups, their options, and keys."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(sys.executable).parent
DEADLINE_S = 120
"""Waiting ends with what is expected; this only bounds a test that fails on a busy machine."""
SETUP = """\
bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; bind 'set page-completions off'
bind 'set completion-query-items 0'; bind 'set enable-bracketed-paste off'
eval "$(reflact-train -sc install=bash)"
eval "$(reflact-eval -sc install=bash)"
eval "$(_REFLACT_COMPLETE=source_bash reflact)"
echo re''ady
"""


class Shell:
    """A bash at a terminal."""

    def __init__(self, folder: Path) -> None:
        environment = {"PATH": f"{PROGRAMS}:/usr/bin:/bin", "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        self._seen = ""
        self.send("stty cols 400\n" + SETUP)
        self.wait_for("\nready")

    def send(self, text: str) -> None:
        self._seen = ""
        os.write(self._fd, text.encode("utf-8"))

    def wait_for(self, *parts: str) -> str:
        """Read until all parts have been shown after what was sent last."""
        end = time.monotonic() + DEADLINE_S
        while not all(part in self._seen for part in parts):
            left = end - time.monotonic()
            assert left > 0, f"{parts} did not come: {self._seen!r}"
            if select.select([self._fd], [], [], left)[0]:
                self._seen += os.read(self._fd, 65536).decode("utf-8", "replace").replace("\r", "")
        return self._seen

    def choices(self, line: str, *expected: str) -> set[str]:
        """Type a line and the tab key; return the words shown once all expected ones are, and drop the line."""
        self.send(line + "\t")
        shown = set(re.split(r"\s+", self.wait_for(*expected)))
        self.send("\x15echo o''k\n")
        self.wait_for("\nok")
        return shown

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.close(self._fd)
        os.waitpid(self.pid, 0)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    if not Path("/bin/bash").exists():
        pytest.skip("absent: /bin/bash")
    if shutil.which("reflact-train", path=str(PROGRAMS)) is None:
        pytest.skip("absent: the console scripts (pip install)")
    shell = Shell(tmp_path_factory.mktemp("home"))
    yield shell
    shell.close()


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("reflact stat", "reflact status "),
        ("reflact arch", "reflact archive "),
        ("reflact splits ver", "reflact splits verify "),
        ("reflact status --wat", "reflact status --watch "),
        ("reflact-train benchmark=docv", "reflact-train benchmark=docvqa"),
        ("reflact-train harness=reh", "reflact-train harness=rehearsal"),
        ("reflact-train ablation/lr=lr1", "lr16"),
        ("reflact-train optimizer.learn", "reflact-train optimizer.learning_rate="),
        ("reflact-train harness=rehearsal train.num_e", "train.num_epochs="),
        ("reflact-eval benchmark=spread", "reflact-eval benchmark=spreadsheetbench"),
    ],
)
def test_a_word_is_completed(shell: Shell, typed: str, completed: str) -> None:
    shell.choices(typed, completed)


@pytest.mark.parametrize(
    ("typed", "expected", "other"),
    [
        ("reflact ", ["status", "diff", "export", "azure-token"], "benchmark="),
        ("reflact-train benchmark=", ["orders", "searchqa", "alfworld"], "rehearsal"),
        ("reflact-train harness=", ["openai_chat", "codex_exec", "local"], "searchqa"),
        ("reflact-train ablation/scheduler=", ["constant", "linear"], "lr8"),
        ("reflact-eval gradient.", ["gradient.minibatch_size=", "gradient.merge_batch_size="], "train.seed="),
    ],
)
def test_what_is_possible_is_shown(shell: Shell, typed: str, expected: list[str], other: str) -> None:
    shown = shell.choices(typed, *expected)
    assert not any(other in word for word in shown)
