"""How agents are let in: the right header, path and version, and tokens that end while an item is being done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflact.config.schema import Config
from reflact.core.errors import Unavailable
from reflact.core.names import RowStatus
from reflact.harness.programs import find_claude, find_codex
from reflact.models.azure_auth import Token, TokenSource, TokenSources
from reflact.testing import Fault, Reply, ScriptedServer
from reflact.testing.exchange import SeenRequest
from reflact.testing.server import fingerprint
from tests.harness.agents.support import BOTH, CLAUDE, CODEX, KEY, RIGHT, bench, need, need_bubblewrap
from tests.harness.agents.test_real import shell

both = pytest.mark.parametrize("backend", BOTH)
relayed = pytest.mark.parametrize("relay", [True, False], ids=["relay", "direct"])
PATHS = {CODEX: "/openai/v1/responses", CLAUDE: "/anthropic/v1/messages"}


class Login:
    """A login that gives numbered tokens."""

    def __init__(self, lifetime_s: float = 3600.0) -> None:
        self.lifetime_s = lifetime_s
        self.count = 0
        self.now = 1000.0

    def __call__(self) -> Token:
        self.count += 1
        return Token(f"token-{self.count}", self.now + self.lifetime_s)

    @property
    def current(self) -> str:
        return f"token-{self.count}"


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> Login:
    """Put a login in the place of Azure's."""
    made = Login()
    sources: dict[tuple[str, str], TokenSource] = {}

    def source(self: TokenSources, auth: str, client_id: str) -> TokenSource:
        key = (auth, client_id)
        return sources.setdefault(key, TokenSource(made, "log in", now=lambda: made.now, pause=lambda _: None))

    monkeypatch.setattr(TokenSources, "source", source)
    return made


def azure(server: ScriptedServer, auth: str, **more: Any) -> dict[str, Any]:
    return {
        "model__student_base_url": "",
        "model__student_azure_openai_endpoint": server.url,
        "model__student_azure_openai_auth_mode": auth,
        **more,
    }


@both
@relayed
def test_a_key_of_azure(backend: str, relay: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    with ScriptedServer(lambda seen: Reply(RIGHT), require_auth=KEY) as server:
        done = bench(monkeypatch, backend, "", **azure(server, "api_key", model__exec_relay=relay)).one()
        (seen,) = server.log.calls
    assert done.outcome.hard == 1.0
    assert seen.request.path == PATHS[backend]
    assert seen.request.auth_kind == {CODEX: "api-key", CLAUDE: "x-api-key"}[backend]
    assert "api-version" not in seen.request.query


@both
@relayed
@pytest.mark.parametrize("auth", ["azure_cli", "managed_identity"])
def test_a_token_of_azure(auth: str, backend: str, relay: bool, login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    with ScriptedServer(lambda seen: Reply(RIGHT), require_auth="token-1") as server:
        done = bench(monkeypatch, backend, "", **azure(server, auth, model__exec_relay=relay)).one()
        (seen,) = server.log.calls
    assert done.outcome.hard == 1.0
    assert (seen.request.path, seen.request.auth_kind) == (PATHS[backend], "bearer")
    assert seen.request.auth == fingerprint("token-1") and login.count == 1


@relayed
def test_a_named_version_is_sent_and_a_dated_one_is_not(relay: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    need(CODEX)
    for version, sent in (("preview", {"api-version": "preview"}), ("2025-04-01-preview", {})):
        more = {"model__student_azure_openai_api_version": version, "model__exec_relay": relay}
        with ScriptedServer(lambda seen: Reply(RIGHT), require_auth=KEY) as server:
            done = bench(monkeypatch, CODEX, "", **azure(server, "api_key", **more)).one()
            (seen,) = server.log.calls
        assert done.outcome.hard == 1.0
        assert seen.request.query == sent and seen.request.path == PATHS[CODEX]


def test_an_endpoint_with_its_path_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for backend, path in ((CODEX, "/openai/v1/"), (CLAUDE, "/anthropic/")):
        need(backend)
        with ScriptedServer(lambda seen: Reply(RIGHT), require_auth=KEY) as server:
            more = azure(server, "api_key", model__student_azure_openai_endpoint=f"{server.url}{path}")
            assert bench(monkeypatch, backend, "", **more).one().outcome.hard == 1.0
            assert server.log.calls[0].request.path == PATHS[backend]


@both
def test_a_gateway_gets_the_key_in_the_programs_usual_header(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    with ScriptedServer(lambda seen: Reply(RIGHT), require_auth=KEY) as server:
        url = server.base_url if backend == CODEX else server.url
        assert bench(monkeypatch, backend, url).one().outcome.hard == 1.0
        seen = server.log.calls[0].request
    assert seen.auth_kind == {CODEX: "bearer", CLAUDE: "x-api-key"}[backend]


class Strict:
    """A service that lets in only a token that its own clock has not outlived."""

    def __init__(self, valid: Callable[[], str], then: Callable[[SeenRequest], Reply]) -> None:
        self.valid, self.then = valid, then
        self.let_in: list[str] = []
        self.refused = 0

    def __call__(self, seen: SeenRequest) -> Reply | Fault:
        if seen.auth != fingerprint(self.valid()):
            self.refused += 1
            return Fault.http(401, message="the token has expired")
        self.let_in.append(seen.auth)
        return self.then(seen)


@both
def test_a_token_that_ends_between_two_requests_is_renewed(
    backend: str, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    valid = ["token-1"]

    def then(seen: SeenRequest) -> Reply:
        if len(service.let_in) == 1:
            login.now += 3590  # the next request finds a token that is about to end
            valid[0] = "token-2"
            return shell(backend, "echo on")
        return Reply(RIGHT)

    service = Strict(lambda: valid[0], then)
    with ScriptedServer(service) as server:
        made = bench(monkeypatch, backend, "", **azure(server, "azure_cli"))
        done = made.one()
    assert done.outcome.hard == 1.0
    assert service.let_in == [fingerprint("token-1"), fingerprint("token-2")]
    assert service.refused == 0, "a token that ends is not shown to the service any more"
    assert (done.usage.calls, done.usage.failed_calls) == (2, 0)


@both
def test_a_token_that_is_let_in_no_more_before_its_end_is_replaced_at_once(
    backend: str, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    valid = ["token-1"]

    def then(seen: SeenRequest) -> Reply:
        if len(service.let_in) == 1:
            valid[0] = "token-2"
            return shell(backend, "echo on")
        return Reply(RIGHT)

    service = Strict(lambda: valid[0], then)
    with ScriptedServer(service) as server:
        made = bench(monkeypatch, backend, "", **azure(server, "azure_cli"))
        done = made.one()
    assert done.outcome.status is RowStatus.OK and done.outcome.hard == 1.0
    assert service.let_in == [fingerprint("token-1"), fingerprint("token-2")]
    assert service.refused == 1 and login.count == 2
    assert done.outcome.extra["agent"]["retries"] == 0, "the program notices nothing"


@both
def test_a_login_that_is_let_in_never_stops_the_run(
    backend: str, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    with ScriptedServer(lambda seen: Reply(RIGHT), require_auth="nobody has it") as server:
        made = bench(monkeypatch, backend, "", **azure(server, "azure_cli"))
        with pytest.raises(Unavailable) as stopped:
            made.one()
        assert len(server.log.exchanges) == 2, "one with the token, one with another, and no more"
    assert "token-" not in str(stopped.value)


@both
def test_a_missing_login_is_said_before_the_first_item(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(backend)
    az = tmp_path / "az"
    az.write_text("#!/bin/sh\necho 'ERROR: Please run az login to setup account.' >&2; exit 1\n")
    az.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("reflact.models.azure_auth._PAUSES_S", ())
    monkeypatch.setattr("reflact.relay.connect.PROCESS_TOKENS", TokenSources())
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        with pytest.raises(Unavailable, match="az login"):
            bench(monkeypatch, backend, "", **azure(server, "azure_cli"))
        assert not server.log.exchanges


def test_the_real_key_of_a_gateway_missing_is_said_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for backend, variable in ((CODEX, "OPENAI_API_KEY"), (CLAUDE, "ANTHROPIC_API_KEY")):
        need(backend)
        monkeypatch.delenv(variable, raising=False)
        with pytest.raises(Unavailable, match=variable):
            bench(monkeypatch, backend, "", model__student_api_key_env=None)


@both
def test_in_the_direct_mode_a_long_item_reads_a_renewed_token(
    backend: str, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    need_bubblewrap()
    valid = ["token-1"]

    def then(seen: SeenRequest) -> Reply:
        if len(service.let_in) == 1:
            login.now += 3590
            valid[0] = "token-2"
            # Waits for the renewed file; a real program's item takes minutes.
            wait = "for n in $(seq 200); do grep -q token-2 $HOME/key && break; sleep 0.05; done"
            return shell(backend, wait)
        return Reply(RIGHT)

    service = Strict(lambda: valid[0], then)
    with ScriptedServer(service) as server:
        made = bench(monkeypatch, backend, "", **azure(server, "azure_cli", model__exec_relay=False))
        made.harness._starter = replace(made.harness._starter, renew_s=0.1)
        done = made.one()
    assert done.outcome.hard == 1.0
    assert service.let_in == [fingerprint("token-1"), fingerprint("token-2")]


AZ = """#!/bin/sh
exp=$(( $(date +%s) + 3600 ))
printf '{"accessToken":"fake-az-token","expires_on":%d,"tokenType":"Bearer"}\\n' $exp
"""


@pytest.fixture
def by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment of somebody who runs a program with `reflact azure-token` by hand."""
    az = tmp_path / "bin" / "az"
    az.parent.mkdir()
    az.write_text(AZ)
    az.chmod(0o755)
    home = tmp_path / "home"
    (home / "codex").mkdir(parents=True)
    path = f"{az.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
    yield {"HOME": str(home), "CODEX_HOME": str(home / "codex"), "PATH": path}


def test_codex_by_hand_takes_the_printed_token(by_hand: dict[str, str], tmp_path: Path) -> None:
    need(CODEX)
    with ScriptedServer(lambda seen: Reply(RIGHT), require_auth="fake-az-token") as server:
        provider = (
            f'{{name="Azure",base_url="{server.url}/openai/v1",wire_api="responses",'
            'auth={command="reflact",args=["azure-token"],timeout_ms=60000}}'
        )
        settings = ["-c", "model_provider=az", "-c", f"model_providers.az={provider}", "-c", "features.plugins=false"]
        command = [
            str(find_codex(Config()).path),
            "exec",
            "--skip-git-repo-check",
            "-C",
            str(tmp_path),
            *settings,
            "hi",
        ]
        done = subprocess.run(
            command, env=by_hand, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, text=True
        )
        assert done.returncode == 0, done.stderr
        assert server.log.calls[-1].request.auth_kind == "bearer"
    assert RIGHT in done.stdout


def test_claude_by_hand_takes_the_printed_token(by_hand: dict[str, str], tmp_path: Path) -> None:
    need(CLAUDE)
    with ScriptedServer(lambda seen: Reply(RIGHT), require_auth="fake-az-token") as server:
        env = {**by_hand, "ANTHROPIC_BASE_URL": f"{server.url}/anthropic", "CLAUDE_CODE_MAX_RETRIES": "0"}
        env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
        settings = json.dumps({"apiKeyHelper": "reflact azure-token"})
        command = [str(find_claude(Config()).path), "-p", "--bare", "--settings", settings, "hi"]
        done = subprocess.run(
            command, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, text=True
        )
        assert done.returncode == 0, done.stderr + done.stdout
        assert server.log.calls[-1].request.auth_kind in ("bearer", "x-api-key")
    assert RIGHT in done.stdout
