"""What a tracker's library is asked for, with the library replaced by one that writes it down."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from reflact.trackers.protocol import Begin, End
from reflact.trackers.weights_and_biases import WeightsAndBiases


class Run:
    id = "abc"

    def __init__(self) -> None:
        self.logged: list[dict[str, Any]] = []
        self.summary: dict[str, Any] = {}
        self.code: int | None = None

    def define_metric(self, name: str, step_metric: str) -> None:
        assert (name, step_metric) == ("*", "step")

    def log(self, values: dict[str, Any]) -> None:
        self.logged.append(values)

    def finish(self, exit_code: int) -> None:
        self.code = exit_code


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for wandb; returns what it was asked for."""
    asked: dict[str, Any] = {}

    def init(**options: Any) -> Run:
        asked.update(options, run=Run())
        return asked["run"]

    module = types.ModuleType("wandb")
    module.init = init  # type: ignore[attr-defined]
    module.Settings = lambda **options: options  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", module)
    return asked


def begin(folder: Path, **settings: str) -> Begin:
    folder.mkdir(exist_ok=True)
    defaults = {"wandb_mode": "offline", "wandb_entity": ""}
    return Begin("LR-x-8", "study", str(folder), str(folder), {"a": 1}, {"benchmark": "x"}, {**defaults, **settings})


@pytest.mark.parametrize(("entity", "mode"), [("", "offline"), ("lab", "online")])
def test_wandb_gets_entity_and_mode(tmp_path: Path, library: dict[str, Any], entity: str, mode: str) -> None:
    WeightsAndBiases().begin(begin(tmp_path, wandb_entity=entity, wandb_mode=mode))
    assert library["entity"] == (entity or None) and library["settings"]["mode"] == mode
    assert (library["project"], library["name"], library["config"]) == ("study", "LR-x-8", {"a": 1})
    assert library["settings"]["root_dir"] == str(tmp_path), "nothing goes into the working directory"
    assert library["settings"]["disable_git"] and library["settings"]["disable_code"]


def test_a_resumed_run_has_the_same_id_in_wandb(tmp_path: Path, library: dict[str, Any]) -> None:
    ids = []
    for _ in range(2):
        WeightsAndBiases().begin(begin(tmp_path))
        ids.append(library["id"])
    assert ids[0] == ids[1] and library["resume"] == "allow"
    WeightsAndBiases().begin(begin(tmp_path / "other"))
    assert library["id"] != ids[0]


def test_a_step_may_be_told_again_and_the_end_is_passed_on(tmp_path: Path, library: dict[str, Any]) -> None:
    tracker = WeightsAndBiases()
    tracker.begin(begin(tmp_path))
    tracker.metrics({"x": 1.0}, 3, 1.0)
    tracker.metrics({"x": 2.0}, 2, 2.0)
    tracker.end(End("stopped", "budget", {"summary/valid": 1.0}))
    run = library["run"]
    assert run.logged == [{"x": 1.0, "step": 3}, {"x": 2.0, "step": 2}]
    assert run.summary == {"summary/valid": 1.0, "ended": "budget"} and run.code == 1
