"""The whole loop: with simulated models, and over HTTP in both modes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflact.config.compose import compose
from reflact.core.errors import ExitCode, Unavailable
from reflact.engine.evaluate import evaluate
from reflact.engine.run import train
from reflact.testing import Reply, ScriptedServer, SeenRequest

from .support import DONE, DOUBLE, data_folder, need_bubblewrap, record


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def test_training_with_simulated_models(tmp_path: Path) -> None:
    need_bubblewrap()
    overrides = ["benchmark=spreadsheetbench", "harness=rehearsal", "env.sample=true", "train.num_epochs=1"]
    config = compose([*overrides, "train.batch_size=full", "evaluation.test_env_num=2", "evaluation.sel_env_num=3"])
    config.env.out_root = str(tmp_path / "run")
    summary = train(config).to_json()
    assert (summary["status"], summary["sample"], summary["simulated"]) == ("completed", True, True)
    done = rows(tmp_path / "run" / "baseline" / "selection")
    assert len(done) == 3
    assert {row["status"] for row in done} == {"ok"}
    assert {row["extra"]["sandbox"] for row in done} == {"bubblewrap"}


def test_a_missing_sandbox_stops_a_run_that_requires_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    overrides = ["benchmark=spreadsheetbench", "harness=rehearsal", "env.sample=true", "env.sandbox=require"]
    config = compose(overrides)
    config.env.out_root = str(tmp_path / "run")
    with pytest.raises(Unavailable, match="bubblewrap is not installed") as raised:
        train(config)
    assert raised.value.exit_code is ExitCode.UNAVAILABLE
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("mode", ["single", "multi"])
def test_over_http(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_bubblewrap()
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    root = data_folder(tmp_path / "data", [record(name) for name in ("a", "b", "c", "d", "e", "f")])

    def student(seen: SeenRequest) -> Reply:
        asked = seen.messages[1].text
        if "(a)" in asked:
            return Reply("I do not know how.")
        if "(b)" in asked and len(seen.messages) == 2:
            return Reply(DONE.format(line="book['Nowhere']"))
        return Reply(DOUBLE)

    with ScriptedServer(student) as server:
        config = compose(["benchmark=spreadsheetbench", "harness=openai_chat", "split=test", "model.student=made"])
        config.model.student_base_url = config.model.teacher_base_url = f"{server.url}/v1"
        config.env.data_root, config.env.split, config.env.mode = str(root), "1shot", mode
        config.env.max_turns = 3
        config.env.out_root = str(tmp_path / "run")
        summary = evaluate(config).to_json()
        requests = [exchange.request for exchange in server.log.exchanges]
    found = {row["id"]: row for row in rows(tmp_path / "run" / "evaluation")}
    assert summary["scores"]["n"] == 4
    expected = {"a": 0.0, "b": 1.0 if mode == "multi" else 0.0}
    assert {name: row["hard"] for name, row in found.items()} == {name: expected.get(name, 1.0) for name in found}
    golden = [request for request in requests if "42" in request.text.replace("sheet['A1'].value * 2", "")]
    assert not golden


def test_an_item_s_time_limit_is_a_timeout_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_bubblewrap()
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    root = data_folder(tmp_path / "data", [record(name) for name in ("a", "b", "c")])
    with ScriptedServer(lambda seen: Reply("```python\nwhile True: pass\n```")) as server:
        config = compose(["benchmark=spreadsheetbench", "harness=openai_chat", "split=test", "model.student=made"])
        config.model.student_base_url = config.model.teacher_base_url = f"{server.url}/v1"
        config.env.data_root, config.env.split, config.env.exec_timeout = str(root), "1shot", 4.0
        config.env.out_root = str(tmp_path / "run")
        evaluate(config)
    (row,) = rows(tmp_path / "run" / "evaluation")
    assert (row["status"], row["cause"], row["hard"]) == ("timeout", "exec_timeout", 0.0)
