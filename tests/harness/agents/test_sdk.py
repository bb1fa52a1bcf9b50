"""Codex and Claude Code through their Python SDKs, and which of the two ways is taken."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

import reflact
from reflact.confine import Choice, choose
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.names import RowStatus
from reflact.harness import sdk_drivers
from reflact.harness.clients import client_of
from reflact.harness.programs import bundled_claude, bundled_codex
from reflact.models.protocol import Image
from reflact.testing import Fault, Reply, ScriptedServer
from reflact.testing.exchange import SeenRequest
from tests.harness.agents.support import (
    BOTH,
    CLAUDE,
    CODEX,
    ITEM,
    KEY,
    RIGHT,
    SKILL,
    Quiz,
    bench,
    fake_bench,
    living,
    need,
    need_bubblewrap,
    nothing_left,
    png,
    settings,
    url_of,
)
from tests.harness.agents.test_real import shell, tool_output

both = pytest.mark.parametrize("backend", BOTH)
USE = {CODEX: "model__codex_exec_use_sdk", CLAUDE: "model__claude_code_exec_use_sdk"}
PATH = {CODEX: "model__codex_exec_path", CLAUDE: "model__claude_code_exec_path"}


@pytest.fixture(autouse=True)
def _sdk() -> None:
    need_bubblewrap()
    for backend, sdk in ((CODEX, sdk_drivers.CODEX), (CLAUDE, sdk_drivers.CLAUDE)):
        need(backend)
        if sdk_drivers.sdk_version(sdk) is None:
            pytest.skip(f"absent: the package {sdk[1]}")


@both
def test_an_item_is_done_through_the_sdk(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def responder(seen: SeenRequest) -> Reply:
        if seen.number == 1:
            command = "cat notes.txt; env; cat /proc/1/environ; touch /ws/made && echo writable; touch /opt/x; ls /work"
            return shell(backend, f"{command}; ls {Path(reflact.__file__).parent}; true")
        return Reply(RIGHT, prompt_tokens=150)

    task = Quiz(files={"notes.txt": b"NOTE-55\n"}, images=(Image("image/png", png()),))
    with ScriptedServer(responder, require_auth=KEY) as server:
        made = bench(monkeypatch, backend, url_of(server, backend), task, **{USE[backend]: True})
        done = made.one()
        first, output = server.log.requests[0], tool_output(server.log.requests[1])
    assert done.outcome.status is RowStatus.OK and done.outcome.hard == 1.0
    assert SKILL.strip() in first.system and ITEM.question in first.user and first.images == 1
    assert "NOTE-55" in output and "writable" in output
    assert KEY not in output and "PYTHONPATH" not in output
    assert "benchmarks" not in output  # neither reflact nor the items that it ships with
    assert "Read-only file system" in output
    assert done.usage.calls == 2
    assert made.meter.total == done.usage
    assert [turn.role for turn in done.outcome.conversation if turn.role != "tool"] == ["user", "assistant"]
    assert any("NOTE-55" in turn.content for turn in done.outcome.conversation if turn.role == "tool")
    assert made.harness._caller.model.info.settings["client"].startswith("sdk ")


@both
def test_the_sdk_asks_as_the_command_line_does(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for way in (False, True):
        with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
            bench(monkeypatch, backend, url_of(server, backend), **{USE[backend]: way}).one()
            asked.append(server.log.requests[0])
    by_cli, by_sdk = asked
    assert (by_sdk.model, by_sdk.tools, by_sdk.user) == (by_cli.model, by_cli.tools, by_cli.user)
    # What the first line of the system prompt says of the client itself may differ.
    assert abs(len(by_sdk.system) - len(by_cli.system)) < 200


@both
def test_failures_have_their_class_through_the_sdk(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    more: dict[str, Any] = {USE[backend]: True}
    fault = Fault.content_filter() if backend == CODEX else Fault.context_length()
    with ScriptedServer(lambda seen: fault) as server:
        done = bench(monkeypatch, backend, url_of(server, backend), **more).one()
    assert done.outcome.status is RowStatus.REFUSED
    with nothing_left(str(tmp_path)), ScriptedServer(lambda seen: Fault.hang()) as server:
        done = bench(monkeypatch, backend, url_of(server, backend), **more, env__exec_timeout=6.0).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "no_answer")


@both
def test_what_a_student_leaves_running_ends_with_the_sdk(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nap = f"sleep {500_000 + os.getpid()}"
    command = f"(setsid nohup sh -c 'trap \"\" TERM INT HUP; {nap}' &) ; sleep 0.2; echo started"

    def responder(seen: SeenRequest) -> Reply:
        return shell(backend, command) if seen.number == 1 else Reply(RIGHT)

    with ScriptedServer(responder) as server:
        done = bench(monkeypatch, backend, url_of(server, backend), **{USE[backend]: True}).one()
        assert "started" in tool_output(server.log.requests[1])
    assert done.outcome.hard == 1.0
    assert living(nap) + living(nap.replace(" ", "\0")) == []


def test_turns_that_are_used_up_are_told_by_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(lambda seen: shell(CLAUDE, "echo on")) as server:
        done = bench(monkeypatch, CLAUDE, server.url, **{USE[CLAUDE]: True}, env__max_turns=2).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.TIMEOUT, "max_turns")


@both
def test_which_way_is_taken(backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    confined, open_ = choose("auto"), choose("off")

    def way(choice: Choice, wanted: object, **more: object) -> str:
        return client_of(settings(backend, "http://x", **{USE[backend]: wanted}, **more), choice).split()[0]

    bundled = bundled_codex() if backend == CODEX else bundled_claude()
    assert bundled is not None
    own = {PATH[backend]: str(bundled.path)}
    assert way(confined, "auto", **own) == "sdk"
    assert way(open_, "auto", **own) == "cli"
    assert way(confined, False) == "cli"
    with pytest.raises(Unavailable, match="confined"):
        way(open_, True)
    other = fake_bench(monkeypatch, tmp_path, backend, "", **{USE[backend]: "auto"})
    assert other.harness._caller.model.info.settings["client"] == "cli"
    monkeypatch.setattr("reflact.harness.clients.sdk_version", lambda sdk: None)
    with pytest.raises(Unavailable, match="reflact\\[agents\\]"):
        way(confined, True)


def test_what_the_sdk_cannot_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = settings(CODEX, "http://x", model__codex_exec_use_sdk=True, model__codex_exec_approval_policy="on-request")
    with pytest.raises(ConfigError, match="approval_policy"):
        client_of(config, choose("auto"))


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
