"""The network and the web search of agents: off unless asked for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflact.config.check import check
from reflact.core.errors import ConfigError
from reflact.testing import Reply, ScriptedServer, ToolCall
from reflact.testing.exchange import SeenRequest
from tests.harness.agents.support import (
    BOTH,
    CLAUDE,
    CODEX,
    KEY,
    RIGHT,
    SKILL,
    bench,
    claude_says,
    codex_says,
    fake_bench,
    need,
    need_bubblewrap,
    settings,
    url_of,
)
from tests.harness.agents.test_real import shell, tool_output

both = pytest.mark.parametrize("backend", BOTH)
NETWORK = {CODEX: "model__codex_exec_network_access", CLAUDE: "model__claude_code_exec_network_access"}
SEARCH = {CODEX: "model__codex_exec_web_search", CLAUDE: "model__claude_code_exec_web_search"}
USE = {CODEX: "model__codex_exec_use_sdk", CLAUDE: "model__claude_code_exec_use_sdk"}
sdk = pytest.mark.parametrize("sdk", [False, True], ids=["cli", "sdk"])


@pytest.fixture
def service() -> Iterator[int]:
    """A service of this machine that nobody but we know of; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def output_of(monkeypatch: pytest.MonkeyPatch, backend: str, command: str, **more: object) -> str:
    def responder(seen: SeenRequest) -> Reply:
        return shell(backend, command) if seen.number == 1 else Reply(RIGHT)

    with ScriptedServer(responder, require_auth=KEY) as server:
        made = bench(monkeypatch, backend, url_of(server, backend), **more)
        done = made.one()
        assert done.outcome.hard == 1.0
        assert made.meter.total.calls == 2, "the relay counts as ever"
        assert SKILL.strip() in server.log.requests[0].system
        return tool_output(server.log.requests[1])


@both
@sdk
def test_the_network_is_closed_until_it_is_asked_for(
    backend: str, sdk: bool, service: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    need_bubblewrap()
    look = f"bash -c '(exec 3<>/dev/tcp/127.0.0.1/{service}) && echo REACHED; ls /etc/resolv.conf; env'"
    closed = output_of(monkeypatch, backend, look, **{USE[backend]: sdk})
    opened = output_of(monkeypatch, backend, look, **{USE[backend]: sdk, NETWORK[backend]: True})
    assert "REACHED" not in closed
    assert "REACHED" in opened
    assert KEY not in opened, "the credential stays with the relay"


def test_the_network_of_codex_is_closed_where_its_own_sandbox_is_off(
    service: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(CODEX)
    need_bubblewrap()
    look = f"bash -c '(exec 3<>/dev/tcp/127.0.0.1/{service}) && echo REACHED'"
    free = {"model__codex_exec_sandbox": "danger-full-access"}
    assert "REACHED" not in output_of(monkeypatch, CODEX, look, **free)
    assert "REACHED" in output_of(monkeypatch, CODEX, look, **free, model__codex_exec_network_access=True)


@both
def test_a_network_that_cannot_be_closed_is_told(backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need_bubblewrap()
    says = codex_says(RIGHT) if backend == CODEX else claude_says(RIGHT)
    free = {"model__codex_exec_sandbox": "danger-full-access"}
    for more, told in (({}, True), ({NETWORK[backend]: True}, False), ({"model__exec_relay": True}, False)):
        made = fake_bench(monkeypatch, tmp_path, backend, says, **free, **more)
        made.one()
        warned = [event.message for event in made.named("warning") if event.code == "agent_sandbox"]
        assert [NETWORK[backend].replace("__", ".") in text for text in warned] == [True] * told


def test_a_network_that_codex_would_not_open_is_refused() -> None:
    config = settings(CODEX, "http://x", model__codex_exec_network_access=True, model__codex_exec_sandbox="read-only")
    with pytest.raises(ConfigError, match=r"model\.codex_exec_network_access=true .*model\.codex_exec_sandbox="):
        check(config)


@both
@sdk
def test_web_search_is_offered_only_if_asked_for(backend: str, sdk: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    need_bubblewrap()
    offered = {}
    for wanted in (False, True):
        with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
            more = {SEARCH[backend]: wanted, USE[backend]: sdk}
            done = bench(monkeypatch, backend, url_of(server, backend), **more).one()
            offered[wanted] = {name.lower().replace("_", "") for name in server.log.requests[0].tools}
        assert done.outcome.hard == 1.0
    assert "websearch" not in offered[False]
    assert offered[True] - offered[False] >= {"websearch"}
    assert {"bash"} <= offered[True] or {"execcommand"} <= offered[True]


def test_a_search_of_claude_is_one_more_call_of_the_service(monkeypatch: pytest.MonkeyPatch, service: int) -> None:
    need(CLAUDE)
    need_bubblewrap()

    def responder(seen: SeenRequest) -> Reply:
        if seen.number == 1:
            return Reply(tool_calls=(ToolCall("WebSearch", {"query": "capital of France"}),))
        if seen.number == 3:
            return shell(CLAUDE, f"bash -c '(exec 3<>/dev/tcp/127.0.0.1/{service}) || echo CLOSED'")
        return Reply(RIGHT)

    with ScriptedServer(responder) as server:
        made = bench(monkeypatch, CLAUDE, server.url, model__claude_code_exec_web_search=True)
        done = made.one()
        search = server.log.requests[1]
        assert search.tools == ("web_search",) and "capital of France" in search.user
        assert "CLOSED" in tool_output(server.log.requests[3]), "searching opens no network"
    assert done.outcome.hard == 1.0
    assert done.usage.calls == 4 and made.meter.total == done.usage


def test_what_is_open_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for backend in BOTH:
        need(backend)
        made = bench(monkeypatch, backend, "http://127.0.0.1:9/v1", **{NETWORK[backend]: True})
        recorded = made.harness._caller.model.info.settings
        assert (recorded["network_access"], recorded["web_search"]) == (True, False)
