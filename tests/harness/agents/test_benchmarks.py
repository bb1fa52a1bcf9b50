"""Every benchmark that agents can do, on its sample, with the real programs; and whole training runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import reflact
from reflact.benchmarks.registry import load_benchmark
from reflact.benchmarks.spreadsheetbench.code import extract
from reflact.core.names import Part
from reflact.core.types import Item
from reflact.testing import Brain, Reply, ScriptedServer, ToolCall
from reflact.testing.exchange import Responder, SeenRequest, Wire
from tests.harness.agents.support import BOTH, CLAUDE, CODEX, KEY, living, need, url_of

both = pytest.mark.parametrize("backend", BOTH)


def composed(backend: str, server: ScriptedServer, out: Path, *more: str) -> Any:
    return reflact.compose(
        [
            f"harness={backend}",
            "env.sample=true",
            f"model.student_base_url={url_of(server, backend)}",
            f"model.teacher_base_url={server.base_url}",
            "model.student_api_key_env=REFLACT_TEST_KEY",
            "model.teacher_api_key_env=REFLACT_TEST_KEY",
            "model.codex_exec_use_sdk=false",
            "env.workers=2",
            f"env.out_root={out}",
            *more,
        ]
    )


class Later:
    """A responder that is chosen when the server's address is known."""

    chosen: Responder

    def __call__(self, seen: SeenRequest) -> Any:
        return self.chosen(seen)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in folder.rglob("results.jsonl") for line in path.read_text().splitlines()]


def asked_item(items: list[Item], seen: SeenRequest) -> Item:
    found = [item for item in items if item.question.strip() in seen.text]
    return max(found, key=lambda item: len(item.question))


@both
@pytest.mark.parametrize("name", ["searchqa", "docvqa", "orders", "livemathematicianbench"])
def test_single_turn_benchmarks_are_done_and_scored(
    backend: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(backend)
    if name == "docvqa":
        pytest.importorskip("PIL", reason="absent: pillow")
    monkeypatch.setenv("REFLACT_TEST_KEY", KEY)
    wanted = "val" if name in ("orders", "searchqa") else "test"
    later = Later()
    with ScriptedServer(later, require_auth=KEY) as server:
        config = composed(
            backend, server, tmp_path / "run", f"benchmark={name}", f"split={wanted}", "env.exec_timeout=60"
        )
        config.evaluation.test_env_num = config.evaluation.sel_env_num = 2
        benchmark = load_benchmark(config)
        items = list(benchmark.load().parts[Part(wanted)])
        later.chosen = lambda seen: Reply(benchmark.rehearse(asked_item(items, seen), True, config.train.seed))
        reflact.evaluate(config)
        images = {request.images for request in server.log.requests}
    found = rows(tmp_path / "run")
    assert len(found) >= 1
    if name != "livemathematicianbench":  # its right letter depends on the seed of the rollout
        assert {row["hard"] for row in found} == {1.0}
    assert {row["status"] for row in found} == {"ok"}
    assert images == ({1} if name == "docvqa" else {0})


@pytest.mark.parametrize(("backend", "mode"), [(CODEX, "multi"), (CLAUDE, "single")])
def test_a_script_is_left_as_a_file_and_no_reference_is_in_reach(
    backend: str, mode: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(backend)
    monkeypatch.setenv("REFLACT_TEST_KEY", KEY)
    listings: list[str] = []
    later = Later()
    with ScriptedServer(later, require_auth=KEY) as server:
        config = composed(backend, server, tmp_path / "run", "benchmark=spreadsheetbench", f"env.mode={mode}")
        config.evaluation.test_env_num = 1
        benchmark = load_benchmark(config)
        items = list(benchmark.load().parts[Part.TEST])

        def responder(seen: SeenRequest) -> Reply:
            if "DONE-MARK" in seen.text.replace("echo DONE-MARK", ""):
                listings.append(seen.text)
                return Reply("I wrote solution.py.")
            script = extract(benchmark.rehearse(asked_item(items, seen), True, 1))
            assert script is not None
            look = f"ls -R . /tmp 2>&1; ls {Path(reflact.__file__).parent} 2>&1; python3 -c 'import openpyxl'"
            run = "python3 -c \"INPUT_PATH='input.xlsx'; OUTPUT_PATH='out.xlsx'; exec(open('solution.py').read())\""
            command = (
                f"cat > solution.py <<'END-OF-SCRIPT'\n{script.text}\nEND-OF-SCRIPT\n{look} && {run} && echo DONE-MARK"
            )
            if backend == CODEX:
                return Reply(tool_calls=(ToolCall("exec_command", {"cmd": command}),))
            return Reply(tool_calls=(ToolCall("Bash", {"command": command}),))

        later.chosen = responder
        reflact.evaluate(config)
    found = rows(tmp_path / "run")
    assert {row["status"] for row in found} == {"ok"}
    assert {row["hard"] for row in found} == {1.0}
    assert listings
    for listing in listings:
        assert "golden" not in listing and "answer.xlsx" not in listing
        assert "spreadsheetbench/sample" not in listing


@both
@pytest.mark.heavy
def test_a_whole_training_run(backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need(backend)
    key = f"{KEY}-{os.getpid()}-training"  # no other test's programs have it
    monkeypatch.setenv("REFLACT_TEST_KEY", key)
    later = Later()
    with ScriptedServer(later, require_auth=key) as server:
        config = composed(backend, server, tmp_path / "run", "benchmark=searchqa", "train.num_epochs=1")
        config.train.batch_size = 8
        config.evaluation.overlap_baseline_test = False
        config.optimizer.use_slow_update = config.optimizer.use_meta_skill = False
        config.evaluation.sel_env_num = 3
        config.evaluation.eval_test = False
        brain = Brain.for_benchmark(load_benchmark(config), seed=1, base=0.2, noisy=False)
        later.chosen = brain
        summary = reflact.train(config)
        students = [request for request in server.log.requests if request.wire in (Wire.RESPONSES, Wire.MESSAGES)]
    assert summary.data["status"] == "completed"
    usage = summary.data["usage"]["student"]
    assert sum(counts["calls"] for phases in usage.values() for counts in phases.values()) == len(students)
    record = json.loads((tmp_path / "run" / "config.json").read_text())
    assert record["models"]["student"]["settings"]["cli"]
    text = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert key.encode() not in text
    assert living(key) == []
