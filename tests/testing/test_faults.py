"""Every fault looks to a client like the trouble that it stands for."""

from __future__ import annotations

import http.client
import json
import socket
import time
from email.utils import parsedate_to_datetime

import pytest

from reflact.testing import Fault, FaultKind, Picky, Reply, ResponderFailed, ScriptedServer, SeenRequest

from .conftest import Fetch, chat


def connect(server: ScriptedServer, timeout: float = 10) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=timeout)


def post(connection: http.client.HTTPConnection, **more: object) -> None:
    connection.request("POST", "/v1/chat/completions", json.dumps(chat("hi", **more)))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 429, 500, 503])
def test_a_status_has_a_body_of_the_service(fetch: Fetch, status: int) -> None:
    with ScriptedServer(lambda seen: Fault.http(status)) as server:
        got = fetch(f"{server.base_url}/chat/completions", chat("hi"))
    assert got.status == status
    assert got.json["error"]["message"]
    assert "Retry-After" not in got.headers


def test_retry_after_as_a_date_is_never_too_early(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Fault.http(429, retry_after_s=2.5, as_date=True)) as server:
        before = time.time()
        got = fetch(f"{server.base_url}/chat/completions", chat("hi"))
    assert parsedate_to_datetime(got.headers["Retry-After"]).timestamp() >= before + 2.5


def test_a_body_of_ones_own(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Fault.http(502, body="<html>Bad Gateway</html>")) as server:
        assert fetch(f"{server.base_url}/chat/completions", chat("hi")).body == b"<html>Bad Gateway</html>"


@pytest.mark.parametrize("stream", [False, True])
def test_a_hang_before_the_headers_ends_when_the_client_leaves(stream: bool) -> None:
    with ScriptedServer(lambda seen: Fault.hang()) as server:
        connection = connect(server)
        post(connection, stream=stream)
        server.wait_for(1)
        assert server.log.in_flight == 1
        connection.close()
        (exchange,) = server.wait_for(1, ended=True)
    assert (exchange.outcome, exchange.status) == ("hang", None)


def test_a_hang_does_not_hold_up_the_end_of_the_server() -> None:
    with ScriptedServer(lambda seen: Fault.hang()) as server:
        connection = connect(server)
        post(connection)
        server.wait_for(1)
        started = time.monotonic()
    assert time.monotonic() - started < 10, "it waits for nothing"
    connection.close()


@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_before_the_headers(stream: bool) -> None:
    with ScriptedServer(lambda seen: Fault.cut()) as server:
        connection = connect(server)
        post(connection, stream=stream)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            connection.getresponse()
        connection.close()


@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_in_the_body(stream: bool) -> None:
    with ScriptedServer(lambda seen: Fault(FaultKind.CUT_IN_BODY, text="half of it")) as server:
        connection = connect(server)
        post(connection, stream=stream)
        response = connection.getresponse()
        assert response.status == 200
        with pytest.raises(http.client.IncompleteRead) as caught:
            response.read()
        assert caught.value.partial
        connection.close()


@pytest.mark.parametrize("kind", [FaultKind.HANG_IN_BODY, FaultKind.TRICKLE])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_never_ends(kind: FaultKind, stream: bool) -> None:
    with ScriptedServer(lambda seen: Fault(kind)) as server:
        connection = connect(server)
        post(connection, stream=stream)
        response = connection.getresponse()
        assert response.read(10)
        assert server.log.in_flight == 1
        response.close()
        connection.close()
        (exchange,) = server.wait_for(1, ended=True)
    assert exchange.outcome == kind


def test_silence_in_a_body_is_silence() -> None:
    with ScriptedServer(lambda seen: Fault(FaultKind.HANG_IN_BODY)) as server:
        connection = connect(server, timeout=0.2)
        post(connection)
        response = connection.getresponse()
        with pytest.raises(socket.timeout):
            response.read()
        connection.close()


def test_malformed_json(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Fault(FaultKind.MALFORMED)) as server:
        got = fetch(f"{server.base_url}/chat/completions", chat("hi"))
    assert got.status == 200
    with pytest.raises(ValueError):
        json.loads(got.body)


def test_lying_usage(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Fault(FaultKind.LYING_USAGE, text="42")) as server:
        got = fetch(f"{server.base_url}/chat/completions", chat("hi")).json
    assert got["choices"][0]["message"]["content"] == "42"
    assert got["usage"]["prompt_tokens"] < got["usage"]["prompt_tokens_details"]["cached_tokens"]


def test_a_picky_server_answers_what_it_knows(fetch: Fetch) -> None:
    picky = Picky(lambda seen: Reply("ok"), rejected=("temperature",), schemas=False)
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    with ScriptedServer(picky) as server:
        url = f"{server.base_url}/chat/completions"
        assert fetch(url, chat("hi", temperature=0)).json["error"]["param"] == "temperature"
        assert fetch(url, chat("hi", response_format=wanted)).json["error"]["param"] == "response_format"
        assert fetch(url, chat("hi")).status == 200


def test_a_deployment_with_responses_only(fetch: Fetch) -> None:
    with ScriptedServer(Picky(lambda seen: Reply("ok"), only_responses=True)) as server:
        assert fetch(f"{server.base_url}/chat/completions", chat("hi")).status == 404
        assert fetch(f"{server.base_url}/responses", {"model": "m", "input": "hi"}).status == 200


def test_a_bug_in_a_responder_is_not_taken_for_a_fault(fetch: Fetch) -> None:
    def buggy(seen: SeenRequest) -> Reply:
        raise KeyError("oops")

    with pytest.raises(ResponderFailed, match="oops"), ScriptedServer(buggy) as server:
        assert fetch(f"{server.base_url}/chat/completions", chat("hi")).status == 500
