"""Whole runs on made games in the real engine: simulated, and over HTTP."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.alfworld.benchmark import ALFWorld
from reflact.benchmarks.alfworld.games import read_game
from reflact.benchmarks.alfworld.making.sample import sample_root
from reflact.config.compose import compose
from reflact.config.schema import Config
from reflact.engine.evaluate import evaluate
from reflact.engine.run import train
from reflact.engine.summary import Summary
from reflact.testing import Brain, Fault, Reply, ScriptedServer, SeenRequest

from ..support import write_split
from .support import benchmark, needs_engine

pytestmark = needs_engine
COMMON = (
    "benchmark=alfworld",
    "env.env_workers=2",
    "env.max_turns=9",
    "train.num_epochs=1",
    "train.batch_size=3",
    "optimizer.use_slow_update=false",
    "optimizer.use_meta_skill=false",
    "evaluation.eval_test=false",
)
KEPT = 3
"""Items of each part: one of some task types each."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Overrides that name a few games of the sample."""
    root = sample_root(tmp_path_factory.mktemp("cache"))
    parts = {}
    for part in ("train", "val", "test"):
        listed = files("reflact.benchmarks.alfworld").joinpath("sample", f"{part}.json").read_text(encoding="utf-8")
        parts[part] = json.loads(listed)[1::4][:KEPT]
    split = write_split(root.parent / "split", parts)
    return (f"env.data_root={root}", f"env.split_dir={split}")


def rehearse(out: Path, *overrides: str) -> Summary:
    config = compose([*COMMON, "harness=rehearsal", *overrides])
    config.env.out_root = str(out)
    return train(config)


def test_a_rehearsal_is_deterministic(tmp_path: Path, data: tuple[str, ...]) -> None:
    first = rehearse(tmp_path / "a", *data, "env.workers=4")
    second = rehearse(tmp_path / "b", *data, "env.workers=1", "env.env_workers=1")
    assert first.data["simulated"]
    assert (tmp_path / "a/history.jsonl").read_bytes() == (tmp_path / "b/history.jsonl").read_bytes()
    assert first.data["best"]["skill_sha256"] == second.data["best"]["skill_sha256"]
    found = [row for path in (tmp_path / "a").rglob("results.jsonl") for row in rows(path)]
    assert {row["status"] for row in found} == {"ok"} and {row["hard"] for row in found} == {0.0, 1.0}


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Solver:
    """A student behind HTTP that follows walkthroughs: the step and the task stand in the prompt."""

    def __init__(self, made: ALFWorld) -> None:
        split = made.load()
        self._plans = {
            item.question: read_game(made.form.path_of(item)).walkthrough
            for part in split.parts.values()
            for item in part
        }
        self._brain = Brain.for_benchmark(made)
        self.calls = 0

    def __call__(self, seen: SeenRequest) -> Reply | Fault:
        if seen.schema_name:
            return self._brain(seen)
        self.calls += 1
        if self.calls % 7 == 0:
            return Fault.http(500)
        task = re.search(r"^Your task: (.*)$", seen.user, re.MULTILINE)
        steps = re.search(r"^Steps taken so far: (\d+)", seen.user, re.MULTILINE)
        assert task is not None
        command = self._plans[task[1]][0 if steps is None else int(steps[1])]
        assert f"\n{command}\n" in seen.user
        return Reply(f"<think>by heart</think><action>{command}</action>")


def config_for(server: ScriptedServer, out: Path, data: tuple[str, ...], *overrides: str) -> Config:
    config = compose([*COMMON, *data, "harness=openai_chat", "limits.backoff_s=0.01", *overrides])
    config.model.student_base_url = config.model.teacher_base_url = server.base_url
    config.env.out_root = str(out)
    return config


def solver_for(data: tuple[str, ...]) -> Solver:
    values: dict[str, Any] = dict(text.removeprefix("env.").split("=", 1) for text in data)
    return Solver(benchmark(**values))


def test_every_game_is_won_over_http_in_spite_of_failures(
    tmp_path: Path, data: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with ScriptedServer(solver_for(data)) as server:
        summary = evaluate(config_for(server, tmp_path / "run", data, "split=test"))
    assert summary.data["scores"]["hard"] == 1.0
    for row in rows(tmp_path / "run/evaluation/results.jsonl"):
        assert (row["status"], row["no_action"], row["extra"]) == ("ok", 0, {"nothing_happens": 0})


def test_a_training_run_over_http(tmp_path: Path, data: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    solver = solver_for(data)

    def answer(seen: SeenRequest) -> Reply | Fault:
        lazy = not seen.schema_name and "Possible commands" in seen.user and "Your task: cool" in seen.user
        return Reply("Well.") if lazy else solver(seen)

    with ScriptedServer(answer) as server:
        summary = train(config_for(server, tmp_path / "run", data))
    assert summary.data["status"] == "completed" and (tmp_path / "run/best_skill.md").exists()
    found = [row for path in (tmp_path / "run").rglob("results.jsonl") for row in rows(path)]
    idle = [row for row in found if row["no_action"]]
    assert idle and len(idle) < len(found)
    assert all(row["status"] == "ok" and row["no_action"] == row["n_turns"] == 9 for row in idle)
