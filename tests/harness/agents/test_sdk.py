"""Codex through its Python SDK, and which of the two ways is taken."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from pathlib import Path

import pytest

from reflact.confine import Choice, choose
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.names import RowStatus
from reflact.harness.registry import client_of
from reflact.models.protocol import Image
from reflact.testing import Fault, Reply, ScriptedServer
from reflact.testing.exchange import SeenRequest
from tests.harness.agents.support import (
    CODEX,
    ITEM,
    KEY,
    RIGHT,
    SKILL,
    Quiz,
    bench,
    fake_bench,
    need,
    need_bubblewrap,
    nothing_left,
    png,
    settings,
)
from tests.harness.agents.test_real import shell, tool_output


@pytest.fixture(autouse=True)
def _sdk() -> None:
    need(CODEX)
    need_bubblewrap()
    if importlib.util.find_spec("openai_codex") is None:
        pytest.skip("absent: the package openai-codex")


def test_an_item_is_done_through_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    def responder(seen: SeenRequest) -> Reply:
        if seen.number == 1:
            return shell(CODEX, "cat notes.txt; env; touch /ws/made && echo writable")
        return Reply(RIGHT, prompt_tokens=150)

    task = Quiz(files={"notes.txt": b"NOTE-55\n"}, images=(Image("image/png", png()),))
    with ScriptedServer(responder, require_auth=KEY) as server:
        made = bench(monkeypatch, CODEX, server.base_url, task, model__codex_exec_use_sdk=True)
        done = made.one()
        first, output = server.log.requests[0], tool_output(server.log.requests[1])
    assert done.outcome.status is RowStatus.OK and done.outcome.hard == 1.0
    assert SKILL.strip() in first.system and ITEM.question in first.user and first.images == 1
    assert "NOTE-55" in output and "writable" in output
    assert KEY not in output and "PYTHONPATH" not in output
    assert done.usage.calls == 2
    assert [turn.role for turn in done.outcome.conversation] == ["user", "tool", "assistant"]
    assert made.harness._caller.model.info.settings["client"].startswith("sdk ")


def test_failures_have_their_class_through_the_sdk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ScriptedServer(lambda seen: Fault.content_filter()) as server:
        done = bench(monkeypatch, CODEX, server.base_url, model__codex_exec_use_sdk=True).one()
    assert done.outcome.status is RowStatus.REFUSED
    with nothing_left(str(tmp_path)), ScriptedServer(lambda seen: Fault.hang()) as server:
        more = {"model__codex_exec_use_sdk": True, "env__exec_timeout": 4.0}
        done = bench(monkeypatch, CODEX, server.base_url, **more).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "no_answer")


def test_which_way_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    confined, open_ = choose("auto"), choose("off")

    def way(choice: Choice, **more: object) -> str:
        return client_of(settings(CODEX, "http://x", **more), choice).split()[0]

    own = find_own()
    assert way(confined, model__codex_exec_use_sdk="auto", model__codex_exec_path=own) == "sdk"
    assert way(open_, model__codex_exec_use_sdk="auto", model__codex_exec_path=own) == "cli"
    assert way(confined, model__codex_exec_use_sdk=False) == "cli"
    asked = {"model__codex_exec_use_sdk": True}
    with pytest.raises(ConfigError, match="approval_policy"):
        way(confined, **asked, model__codex_exec_approval_policy="on-request")
    with pytest.raises(Unavailable, match="confined"):
        way(open_, **asked)
    other = fake_bench(monkeypatch, tmp_path, CODEX, "", model__codex_exec_use_sdk="auto")
    assert other.harness._caller.model.info.settings["client"] == "cli"
    monkeypatch.setattr("reflact.harness.registry.sdk_version", lambda: None)
    with pytest.raises(Unavailable, match="reflact\\[agents\\]"):
        way(confined, **asked)


def find_own() -> str:
    from codex_cli_bin import bundled_codex_path

    return str(bundled_codex_path())


def test_what_the_sdk_tells_is_read() -> None:
    from reflact.harness.agent_report import Lines
    from reflact.harness.codex_sdk_events import CodexSdkEvents

    lines = Lines(CodexSdkEvents())
    failed = {"status": "failed", "error": {"message": "last status: 401"}}
    for event in (
        {"method": "error", "params": {"willRetry": True, "error": {"message": "Reconnecting... 1/5"}}},
        {"method": "item/completed", "params": {"item": {"type": "userMessage"}}},
        {"method": "thread/tokenUsage/updated", "params": {"tokenUsage": {"total": {"inputTokens": 9}}}},
        {"method": "turn/completed", "params": {"turn": failed}},
    ):
        lines.feed(json.dumps(event).encode() + b"\n")
    lines.finish()
    report = lines.events.report
    assert (report.completed, report.status, report.retries) == (False, 401, 1)
    assert report.usage is not None and report.usage.prompt_tokens == 9
    assert report.turns == []
