"""`reflact local serve`: one loaded model that several runs use over the OpenAI API."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Result, line, run
from tests.models.local_support import needs_local_model

NAME = "SmolLM2-135M-Instruct-Q4_1"
MESSAGES = [{"role": "user", "content": "Say hello."}]
WAIT_S = 120


@dataclass(frozen=True)
class Served:
    """A server in a process of its own, and what it printed."""

    process: subprocess.Popen[str]
    printed: str
    cache: Path

    @property
    def url(self) -> str:
        return self.printed.split(" answers at ")[1].split(",")[0]

    @property
    def token_file(self) -> Path:
        return self.cache / "reflact" / "local-serve" / f"{self.url.rsplit(':', 1)[1].split('/')[0]}.token"

    @property
    def token(self) -> str:
        return self.token_file.read_text().strip()

    def request(self, path: str, body: Mapping[str, Any] | None = None, token: str | None = None) -> tuple[int, str]:
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(
                urllib.request.Request(f"{self.url}{path}", data, headers), timeout=WAIT_S
            ) as got:
                return got.status, got.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def chat(self, **more: Any) -> tuple[int, str]:
        body = {"model": NAME, "messages": MESSAGES, "max_completion_tokens": 4, **more}
        return self.request("/chat/completions", body, self.token)


def serve(cache: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Served:
    process = subprocess.Popen(
        line("reflact", "local", "serve", "--context", "512", *arguments),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), **(env or {})},
    )
    assert process.stdout is not None
    printed = ""
    while "max_completion_tokens" not in printed:
        more = process.stdout.readline()
        assert more, f"it ended with {process.wait(WAIT_S)} after {printed!r}"
        printed += more
    return Served(process, printed, cache)


def end(served: Served, number: signal.Signals) -> tuple[int, str]:
    served.process.send_signal(number)
    try:
        rest, _ = served.process.communicate(timeout=WAIT_S)
    finally:
        served.process.kill()  # of one that has ended, this does nothing
    return served.process.returncode, rest


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = serve(tmp_path_factory.mktemp("cache"), "--port", "0", "--slots", "2")
    yield served
    assert end(served, signal.SIGTERM)[0] == 0


@needs_local_model
@pytest.mark.heavy
class TestServing:
    def test_it_answers_with_usage(self, served: Served) -> None:
        status, text = served.chat()
        reply = json.loads(text)
        assert status == 200
        assert reply["usage"]["completion_tokens"] == 4 and reply["usage"]["prompt_tokens"] > 4
        assert reply["choices"][0]["message"]["content"]

    def test_it_repeats_itself_unless_asked_otherwise(self, served: Served) -> None:
        said = [json.loads(served.chat(max_completion_tokens=8)[1])["choices"][0]["message"] for _ in range(3)]
        assert said[0] == said[1] == said[2]

    def test_it_streams(self, served: Served) -> None:
        status, text = served.chat(stream=True, stream_options={"include_usage": True})
        events = [event.removeprefix("data: ") for event in text.split("\n\n") if event]
        assert status == 200 and events[-1] == "[DONE]"
        assert any("completion_tokens" in event for event in events)

    def test_it_names_its_model(self, served: Served) -> None:
        status, text = served.request("/models", token=served.token)
        assert status == 200
        assert [model["id"] for model in json.loads(text)["data"]] == [NAME]

    @pytest.mark.parametrize("token", ["wrong", "", None])
    def test_without_the_token_nothing_is_answered(self, served: Served, token: str | None) -> None:
        assert served.request("/models", token=token)[0] == 401
        assert served.request("/chat/completions", {"messages": MESSAGES}, token)[0] == 401

    def test_the_token_is_in_a_file_of_ones_own_and_not_on_the_screen(self, served: Served) -> None:
        assert stat.S_IMODE(served.token_file.stat().st_mode) == 0o600
        assert str(served.token_file) in served.printed
        assert len(served.token) > 30 and served.token not in served.printed

    def test_no_client_waits_for_the_connections_of_another(self, served: Served) -> None:
        # Connections that idle, far more than cores: each one keeps its thread of the server.
        port = int(served.url.rsplit(":", 1)[1].split("/")[0])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        try:
            with ThreadPoolExecutor(8) as pool:
                assert [status for status, _ in pool.map(lambda _: served.chat(), range(8))] == [200] * 8
        finally:
            for connection in idle:
                connection.close()

    def test_runs_share_the_model_with_what_was_printed(self, served: Served, tmp_path: Path) -> None:
        key = {"REFLACT_LOCAL_TOKEN": served.token, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        printed = served.printed.split("reflact-train ")[1].replace("\\\n", " ").split()
        overrides = [*printed, "split=val", "evaluation.sel_env_num=4", "env.max_completion_tokens=8"]

        def evaluate(number: int) -> Result:
            return run(tmp_path, "reflact-eval", *overrides, f"env.out_root={number}", env=key)

        with ThreadPoolExecutor(3) as pool:
            results = list(pool.map(evaluate, range(3)))
        assert [result.code for result in results] == [0, 0, 0], results
        for number in range(3):
            summary = json.loads((tmp_path / str(number) / "summary.json").read_text())
            assert summary["scores"]["scored"] == 4, summary


@needs_local_model
@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_also_while_it_answers(tmp_path: Path, number: signal.Signals) -> None:
    served = serve(tmp_path, "--port", "0")
    token, file = served.token, served.token_file
    story = {"messages": [{"role": "user", "content": "Write a long story."}], "max_tokens": 400, "stream": True}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{served.url}/chat/completions", json.dumps(story).encode(), headers)
    with urllib.request.urlopen(request, timeout=WAIT_S) as reply:
        assert reply.readline()  # it is at work
        assert end(served, number) == (0, "stopped\n")
    assert not file.exists()


@needs_local_model
@pytest.mark.heavy
def test_a_token_of_ones_own_is_taken_from_the_environment(tmp_path: Path) -> None:
    served = serve(tmp_path, "--port", "0", "--token-env", "MINE", env={"MINE": "a-token-of-mine"})
    try:
        assert served.request("/models", token="a-token-of-mine")[0] == 200
        assert "model.student_api_key_env=MINE" in served.printed and "a-token-of-mine" not in served.printed
        assert not served.token_file.exists()
    finally:
        assert end(served, signal.SIGTERM)[0] == 0


@needs_local_model
def test_a_port_in_use_is_said_before_the_model_is_loaded(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = run(tmp_path, "reflact", "local", "serve", "--port", str(port))
    assert result.code == 69
    assert f"port {port} of 127.0.0.1 is in use" in result.err and "--port 0" in result.err


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_other_machines_are_let_in_only_on_request(tmp_path: Path, host: str) -> None:
    result = run(tmp_path, "reflact", "local", "serve", "--host", host)
    assert result.code == 2
    assert host in result.err and "--expose" in result.err


def test_an_empty_token_is_none(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact", "local", "serve", "--token-env", "NOT_THERE", env={"NOT_THERE": ""})
    assert result.code == 2 and "NOT_THERE" in result.err
