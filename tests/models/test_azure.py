from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from reflact.config.schema import Config
from reflact.core.errors import Unavailable
from reflact.core.names import Role
from reflact.models.azure_auth import Token, TokenSource, TokenSources
from reflact.models.azure_cli import AzFailed, AzHangs, ask_az
from reflact.models.openai_chat import connect
from reflact.models.protocol import CallError, Failure
from reflact.testing import Picky, Reply, ScriptedServer, Wire

from .support import request

Serve = Callable[..., ScriptedServer]

FAKE_AZ = """#!/bin/bash
# Like the real one: slow, and broken when two of it run at once.
echo "$@" >> "$FAKE_AZ_DIR/log"
mkdir "$FAKE_AZ_DIR/running" 2>/dev/null || { echo "ERROR: the token cache is locked" >&2; exit 1; }
sleep "${FAKE_AZ_SLEEP:-0}"
rmdir "$FAKE_AZ_DIR/running"
if [ -s "$FAKE_AZ_DIR/failures" ]; then
    sed -i '$d' "$FAKE_AZ_DIR/failures"
    echo "ERROR: Please run 'az login' to setup account." >&2; exit 1
fi
exp=$(( $(date +%s) + ${FAKE_AZ_LIFE:-3600} ))
printf '{"accessToken":"fake-az-token","expires_on":%d,"expiresOn":"%s","subscription":"s","tenant":"t",' \\
    $exp "$(date -d @$exp '+%F %T.000000')"
printf '"tokenType":"Bearer"}\\n'
"""


class Az:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def starts(self) -> int:
        log = self.folder / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def fail(self, times: int) -> None:
        (self.folder / "failures").write_text("x\n" * times)


@pytest.fixture
def az(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Az:
    program = tmp_path / "bin" / "az"
    program.parent.mkdir()
    program.write_text(FAKE_AZ)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_AZ_DIR", str(tmp_path))
    return Az(tmp_path)


def azure(server: ScriptedServer, auth: str, **model: Any) -> Config:
    config = Config()
    config.model.student_azure_openai_endpoint = server.azure_endpoint
    config.model.student_azure_openai_auth_mode = auth
    for name, value in model.items():
        setattr(config.model, name, value)
    return config


def ask(config: Config, tokens: TokenSources | None = None, **environ: str) -> str:
    async def run() -> str:
        model = connect(config, Role.STUDENT, environ=environ, tokens=tokens or TokenSources())
        try:
            return (await model.complete(request())).text
        finally:
            await model.aclose()

    return asyncio.run(run())


def test_a_key_and_the_deployments_path(serve: Serve) -> None:
    server = serve(require_auth="azure-key")
    assert ask(azure(server, "api_key"), AZURE_OPENAI_API_KEY="azure-key") == "hello"
    seen = server.log.requests[0]
    assert seen.path == "/openai/deployments/gpt-5.5/chat/completions"
    assert seen.query == {"api-version": "2024-12-01-preview"} and seen.auth_kind == "api-key"


def test_without_the_key_nothing_is_sent(serve: Serve) -> None:
    server = serve()
    with pytest.raises(Unavailable, match="AZURE_OPENAI_API_KEY"):
        ask(azure(server, "api_key"), OPENAI_API_KEY="not for azure")
    assert not server.log.exchanges


def test_the_newer_form_of_endpoints(serve: Serve) -> None:
    server = serve(require_auth="azure-key")
    config = azure(server, "api_key", student_azure_openai_endpoint=f"{server.url}/openai/v1/")
    assert ask(config, AZURE_OPENAI_API_KEY="azure-key") == "hello"
    assert server.log.requests[0].path == "/openai/v1/chat/completions" and not server.log.requests[0].query


def test_responses_on_azure(serve: Serve) -> None:
    server = serve(Picky(lambda _: Reply("ok"), only_responses=True))
    assert ask(azure(server, "api_key"), AZURE_OPENAI_API_KEY="k") == "ok"
    seen = server.log.requests[-1]
    assert (seen.wire, seen.path, seen.model) == (Wire.RESPONSES, "/openai/responses", "gpt-5.5")


@pytest.mark.parametrize("client_id", ["", "my-identity"])
def test_managed_identity(serve: Serve, monkeypatch: pytest.MonkeyPatch, client_id: str) -> None:
    server = serve(require_auth="scripted-identity-token")
    for name, value in server.identity_environment.items():
        monkeypatch.setenv(name, value)
    config = azure(server, "managed_identity", student_azure_openai_managed_identity_client_id=client_id)
    assert ask(config) == "hello"
    token, call = server.log.exchanges
    assert token.request.query.get("client_id", "") == client_id
    assert call.request.auth_kind == "bearer"


@pytest.mark.parametrize("client_id", ["", "my-identity"])
def test_managed_identity_of_a_virtual_machine(serve: Serve, monkeypatch: pytest.MonkeyPatch, client_id: str) -> None:
    """The other token endpoint: the instance metadata service (IMDS) instead of App Service's variables."""
    server = serve(require_auth="scripted-identity-token")
    for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT", "MSI_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", server.url)
    config = azure(server, "managed_identity", student_azure_openai_managed_identity_client_id=client_id)
    assert ask(config) == "hello"
    token, call = server.log.exchanges[-2:]
    assert "metadata/identity" in token.request.path and token.request.query.get("client_id", "") == client_id
    assert call.request.auth_kind == "bearer"


def test_azure_cli(serve: Serve, az: Az) -> None:
    server = serve(require_auth="fake-az-token")
    tokens = TokenSources()
    config = azure(server, "azure_cli")
    assert [ask(config, tokens), ask(config, tokens)] == ["hello", "hello"]
    assert az.starts == 1 and server.log.requests[0].auth_kind == "bearer"


def test_tokens_that_end_during_a_run_are_renewed_with_one_start_for_all_calls(
    serve: Serve, az: Az, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_AZ_LIFE", "20")  # so near to its end, a token is used for no new call
    server = serve(require_auth="fake-az-token")

    async def run() -> list[str]:
        model = connect(azure(server, "azure_cli"), Role.STUDENT, environ={}, tokens=TokenSources())
        monkeypatch.setenv("FAKE_AZ_LIFE", "3600")
        try:
            replies = await asyncio.gather(*(model.complete(request()) for _ in range(24)))
            return [reply.text for reply in (*replies, await model.complete(request()))]
        finally:
            await model.aclose()

    assert asyncio.run(run()) == ["hello"] * 25
    assert az.starts == 2


def test_an_az_that_hangs_is_ended_with_all_it_started(az: Az, monkeypatch: pytest.MonkeyPatch) -> None:
    program = az.folder / "bin" / "az"
    # The real one is a shell script, too, that starts Python.
    program.write_text('#!/bin/bash\nsleep 600 &\necho $! > "$FAKE_AZ_DIR/below"\nwait\n')
    with pytest.raises(AzHangs, match=r"did not end within 1 s"):
        ask_az(str(program), "https://x", timeout_s=1.0)
    below = int((az.folder / "below").read_text())
    _soon(lambda: not Path(f"/proc/{below}/status").exists() or "zombie" in Path(f"/proc/{below}/status").read_text())


def test_what_is_waited_for_is_said_and_the_wait_is_bounded() -> None:
    gate, told = threading.Event(), threading.Event()
    said: list[str] = []

    def say(message: str) -> None:
        said.append(message)
        told.set()

    def fetch() -> Token:
        gate.wait(60)
        return Token("late", 1e12)

    source = TokenSource(fetch, "Log in", what="the login of X", say=say, silent_s=0.01, patience_s=0.2)
    try:
        with pytest.raises(Unavailable, match=r"the login of X gave none within 0\.2 s\. Log in"):
            source.get()
        with pytest.raises(Unavailable, match=r"the login of X gave none"):
            asyncio.run(source.aget())
        assert told.wait(10)
        assert said == ["the login of X has given no token for 0.01 s; waiting, 0.2 s in all at most"]
    finally:
        gate.set()
    _soon(lambda: source.shown == "late")


def test_a_slow_renewal_that_nobody_waits_for_is_not_spoken_of() -> None:
    fetches, said = Fetches(), []
    fetched = threading.Event()

    def fetch() -> Token:
        if fetches.count:
            time.sleep(0.1)  # ten times as long as it may be silent
        token = fetches()
        if fetches.count == 2:
            fetched.set()
        return token

    source = TokenSource(fetch, "log in", now=lambda: fetches.now, say=said.append, silent_s=0.01)
    assert source.get() == "token-1"
    fetches.now += 3400
    assert source.get() == "token-1"
    assert fetched.wait(10)
    _soon(lambda: source.get() == "token-2")
    assert said == []


def test_a_quick_login_says_nothing(az: Az, capsys: pytest.CaptureFixture[str]) -> None:
    assert TokenSources().source("azure_cli", "").get() == "fake-az-token"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("printed", "ends"),
    [
        ('{"accessToken": "t", "expires_on": 1900000000, "expiresOn": "2001-01-01 00:00:00.000000"}', 1_900_000_000.0),
        ('{"accessToken": "t", "expiresOn": "2030-01-01 00:00:00.000000"}', datetime(2030, 1, 1).timestamp()),
    ],
)
def test_both_forms_of_an_end_are_read(az: Az, printed: str, ends: float) -> None:
    program = az.folder / "bin" / "az"
    program.write_text(f"#!/bin/bash\ncat <<'END'\n{printed}\nEND\n")
    assert ask_az(str(program), "https://x") == ("t", ends)


@pytest.mark.parametrize("printed", ["", "secret-token", '{"accessToken": "secret-token"}', "[]", "null"])
def test_what_az_prints_is_never_shown(az: Az, printed: str) -> None:
    program = az.folder / "bin" / "az"
    program.write_text(f"#!/bin/bash\necho '{printed}'\n")
    with pytest.raises(AzFailed) as caught:
        ask_az(str(program), "https://x")
    assert "no token that can be read" in str(caught.value) and "secret" not in str(caught.value)


def test_many_threads_wait_for_one_start_of_az(az: Az, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_AZ_SLEEP", "2")
    tokens, got = TokenSources(), []
    threads = [threading.Thread(target=lambda: got.append(tokens.source("azure_cli", "").get())) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["fake-az-token"] * 24 and az.starts == 1


def test_sources_of_two_processes_start_az_one_after_the_other(az: Az, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_AZ_SLEEP", "0.3")
    got: list[str] = []
    # Two sets of sources share nothing but the machine, as two processes do.
    threads = [
        threading.Thread(target=lambda: got.append(TokenSources().source("azure_cli", "").get())) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["fake-az-token"] * 3 and az.starts == 3


def test_az_that_fails_now_and_then_is_asked_again(az: Az) -> None:
    az.fail(2)
    assert TokenSources().source("azure_cli", "").get() == "fake-az-token"
    assert az.starts == 3


def test_a_missing_login_is_found_before_any_call(serve: Serve, az: Az) -> None:
    server = serve()
    az.fail(99)
    with pytest.raises(Unavailable, match="az login"):
        ask(azure(server, "azure_cli"))
    assert not server.log.exchanges and az.starts == 3


def test_a_missing_az_is_named(serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"`az`.*not on the PATH"):
        ask(azure(serve(), "azure_cli"))


@pytest.mark.parametrize("another", [True, False])
def test_a_token_that_is_let_in_no_more_is_replaced_once(serve: Serve, another: bool) -> None:
    server = serve(require_auth="token-2")
    fetches = Fetches()

    class Sources(TokenSources):
        def source(self, auth: str, client_id: str) -> TokenSource:
            return made

    made = fetches.source() if another else TokenSource(lambda: Token("token-1", 1e12), "log in")
    if another:
        assert ask(azure(server, "azure_cli"), Sources()) == "hello"
    else:
        with pytest.raises(CallError) as failed:
            ask(azure(server, "azure_cli"), Sources())
        assert failed.value.failure is Failure.AUTH
        with pytest.raises(CallError):
            ask(azure(server, "azure_cli"), Sources())
    # The first token, a second one; and where that is the same, none more for any later call.
    assert len(server.log.exchanges) == (2 if another else 3)


class Fetches:
    """Gives numbered tokens that last an hour of its own time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.count = 0
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None

    def __call__(self) -> Token:
        self.gate.wait(10)
        self.count += 1
        if self.error is not None:
            raise self.error
        return Token(f"token-{self.count}", self.now + 3600)

    def source(self) -> TokenSource:
        return TokenSource(self, "log in", now=lambda: self.now, pause=lambda _: None)


def _soon(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.005)


def test_a_token_is_renewed_early_while_the_old_one_serves() -> None:
    fetches = Fetches()
    source = fetches.source()
    assert source.get() == "token-1"
    fetches.now += 3000
    assert source.get() == "token-1" and fetches.count == 1
    fetches.now += 400
    fetches.gate.clear()
    assert [source.get() for _ in range(5)] == ["token-1"] * 5, "nobody waits for the renewal"
    fetches.gate.set()
    _soon(lambda: source.get() == "token-2")
    assert fetches.count == 2


def test_a_failed_renewal_harms_nobody_until_the_token_ends() -> None:
    fetches = Fetches()
    source = fetches.source()
    source.get()
    fetches.error = RuntimeError("network down")
    fetches.now += 3400
    assert source.get() == "token-1"
    _soon(lambda: fetches.count == 4)
    assert source.get() == "token-1"
    fetches.now += 190
    with pytest.raises(Unavailable, match="network down"):
        source.get()
    fetches.error = None
    assert source.get().startswith("token-")


def test_a_caller_that_gives_up_does_not_end_the_fetch_for_others() -> None:
    fetches = Fetches()
    fetches.gate.clear()
    source = fetches.source()

    async def run() -> str:
        first, second = asyncio.create_task(source.aget()), asyncio.create_task(source.aget())
        await asyncio.sleep(0.02)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        fetches.gate.set()
        return await second

    assert asyncio.run(run()) == "token-1" and fetches.count == 1


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(Token("secret", 1.0))
