"""What a server lacks is said when a run first meets it, and costs neither its budget nor its calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reflact.testing import Fault, Reply, ScriptedServer, SeenRequest
from tests.cli.commands import run

NO_EYES = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"


def events(root: Path, kind: str) -> list[dict[str, Any]]:
    lines = (root / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["kind"] == kind]


def test_a_budget_holds_where_the_server_counts_nothing(tmp_path: Path) -> None:
    with ScriptedServer(lambda _: Reply("Answer: 7 | pens | Sydney", with_usage=False)) as server:
        command = [
            "benchmark=orders", "model.teacher_backend=template", f"model.student_base_url={server.base_url}",
            "train.num_epochs=1", "env.workers=2", "env.out_root=run",
        ]  # fmt: skip
        stopped = run(tmp_path, "reflact-train", *command, "budget.max_tokens=1000")
        calls = len(server.log.requests)
        assert stopped.code == 75 and "budget.max_tokens=1000 is spent" in stopped.err, stopped.err
        said = [
            event["message"] for event in events(tmp_path / "run", "warning") if "does not count" in event["message"]
        ]
        assert len(said) == 1
        assert sum(event["usage"]["estimated_tokens"] for event in events(tmp_path / "run", "call")) >= 1000
        assert 10 < calls < 200
        finished = run(tmp_path, "reflact-train", *command, "budget.max_tokens=0", "run.resume=true")
    assert finished.code == 0, finished.err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    phases = [phase for stage in summary["usage"]["student"].values() for phase in stage.values()]
    assert sum(phase["estimated_tokens"] for phase in phases) == summary["tokens_total"] > 1000
    assert "of these tokens are estimated" in finished.out


def test_a_model_without_eyes_ends_a_run_before_many_calls(tmp_path: Path) -> None:
    with ScriptedServer(lambda seen: Fault.http(500, message=NO_EYES) if seen.images else Reply("fine")) as server:
        result = run(
            tmp_path, "reflact-train", "benchmark=docvqa", "env.sample=true", "model.teacher_backend=template",
            f"model.student_base_url={server.base_url}", "model.student=blind", "env.workers=2", "env.out_root=run",
        )  # fmt: skip
        calls = len(server.log.requests)
    assert result.code == 2, result.err
    assert "model.student=blind" in result.err and "takes no images" in result.err and "Traceback" not in result.err
    assert calls <= 4


def test_a_key_that_is_revoked_stops_the_run_which_then_goes_on_with_another(tmp_path: Path) -> None:
    calls: list[str] = []

    def revoked(seen: SeenRequest) -> Reply | Fault:
        calls.append(seen.path)
        if len(calls) > 20:
            return Fault.http(401, message="The key was revoked.", code="invalid_api_key")
        return Reply("Answer: 7 | pens | Sydney")

    command = [
        "benchmark=orders", "model.teacher_backend=template", "train.num_epochs=1", "env.workers=2", "env.out_root=run",
        "model.student_api_key_env=OLD_OR_NEW",
    ]  # fmt: skip
    with ScriptedServer(revoked) as server:
        url = f"model.student_base_url={server.base_url}"
        result = run(tmp_path, "reflact-train", *command, url, env={"OLD_OR_NEW": "old-key-0123456789"})
        assert result.code == 69, result.err
        assert "refused the credential (401)" in result.err and "old-key" not in result.err
        assert "run.resume=true" in result.err
        assert len(calls) < 30
    asked = len(calls)
    with ScriptedServer(lambda _: Reply("Answer: 7 | pens | Sydney")) as server:
        # Another port is another endpoint; which one answers may change on resume.
        url = f"model.student_base_url={server.base_url}"
        env = {"OLD_OR_NEW": "new-key-0123456789"}
        resumed = run(tmp_path, "reflact-train", *command, url, "run.resume=true", env=env)
        assert resumed.code == 0, resumed.err
        again = len(server.log.requests)
    fresh = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    total = sum(phase["calls"] for stage in fresh["usage"]["student"].values() for phase in stage.values())
    assert total == again + 20 and asked > 20
