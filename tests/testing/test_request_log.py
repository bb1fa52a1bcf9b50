"""The log holds what tests want to assert, and no secrets."""

from __future__ import annotations

import asyncio
import threading
import time
import urllib.error

import pytest

from reflact.testing import Reply, ScriptedServer, Wire
from reflact.testing.server import fingerprint

from .conftest import Fetch, chat


def test_a_credential_is_recognised_but_not_kept(fetch: Fetch) -> None:
    with ScriptedServer(require_auth=("one", "two")) as server:
        url = f"{server.base_url}/chat/completions"
        statuses = [
            fetch(url, chat("hi"), headers).status
            for headers in ({}, {"Authorization": "Bearer three"}, {"Authorization": "Bearer one"}, {"api-key": "two"})
        ]
        seen = server.log.requests
    assert statuses == [401, 401, 200, 200]
    assert [request.auth for request in seen] == ["", *map(fingerprint, ("three", "one", "two"))]
    assert "Bearer" not in repr(seen)


def test_identical_bodies_are_counted(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        for text in ("a", "b", "a", "a"):
            fetch(f"{server.base_url}/chat/completions", chat(text))
        assert [(seen.number, seen.repeat) for seen in server.log.requests] == [(1, 0), (2, 0), (3, 1), (4, 2)]


def test_times_and_overlap(fetch: Fetch) -> None:
    before = time.monotonic()
    with ScriptedServer(latency_s=0.05) as server:
        fetch(f"{server.base_url}/chat/completions", chat("hi"))
        (exchange,) = server.log.calls
    assert before < exchange.started_s < exchange.ended_s < time.monotonic()
    assert exchange.seconds >= 0.05
    assert (exchange.in_flight, server.log.max_in_flight) == (1, 1)
    assert (exchange.status, exchange.outcome) == (200, "answered")


def test_waiting_for_requests(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        thread = threading.Thread(target=lambda: [fetch(f"{server.base_url}/chat/completions", chat("hi"))] * 1)
        thread.start()
        (exchange,) = server.wait_for(1, ended=True)
        thread.join()
        assert exchange.request.user == "hi"
        with pytest.raises(TimeoutError, match="1 of 2"):
            server.wait_for(2, timeout_s=0.01)
        assert server.wait_for(1, matching=lambda x: x.request.user == "hi") == (exchange,)


def test_waiting_does_not_block_an_event_loop(fetch: Fetch) -> None:
    async def both(server: ScriptedServer) -> int:
        waiting = asyncio.create_task(server.wait_for_async(1))
        await asyncio.to_thread(fetch, f"{server.base_url}/chat/completions", chat("hi"))
        return len(await waiting)

    with ScriptedServer() as server:
        assert asyncio.run(both(server)) == 1


def test_texts_can_be_left_out(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Reply(seen.user.upper()), keep_text=False) as server:
        got = fetch(f"{server.base_url}/chat/completions", chat("secret"))
        assert got.json["choices"][0]["message"]["content"] == "SECRET"
        assert "secret" not in repr(server.log.exchanges)


def test_wrong_paths_are_refused_and_logged(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        # Azure refuses its own paths without an API version.
        paths = ("/v1/nothing", "/chat", "/openai/deployments/d/chat/completions", "/openai/responses")
        assert [fetch(f"{server.url}{path}", chat("hi")).status for path in paths] == [404] * 4
        assert {exchange.outcome for exchange in server.log.exchanges} == {"refused"}


def test_a_body_that_is_no_request(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        for body in (b"not json", b"[1]", b'{"messages": 3}', b'{"messages": ["text"]}'):
            got = fetch(f"{server.base_url}/chat/completions", body)
            assert got.status == 400
            assert got.json["error"]["message"]


def test_a_large_request_is_read_whole(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Reply(str(len(seen.user)))) as server:
        got = fetch(f"{server.base_url}/chat/completions", chat("x" * 5_000_000))
    assert got.json["choices"][0]["message"]["content"] == "5000000"


def test_many_servers_do_not_share_anything(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Reply("1")) as one, ScriptedServer(lambda seen: Reply("2")) as two:
        fetch(f"{one.base_url}/chat/completions", chat("hi"))
        assert (len(one.log.calls), len(two.log.calls)) == (1, 0)
        assert one.url != two.url


def test_a_taken_port_is_an_error() -> None:
    with ScriptedServer() as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(OSError, match=str(port)):
            ScriptedServer(port=port).start()


def test_a_service_can_go_and_come_back(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        url = f"{server.base_url}/chat/completions"
        fetch(url, chat("hi"))
        server.stop()
        with pytest.raises(urllib.error.URLError):
            fetch(url, chat("hi"))
        server.start()
        assert fetch(url, chat("hi")).status == 200
        assert len(server.log.calls) == 2


def test_model_lists_need_no_responder(fetch: Fetch) -> None:
    with ScriptedServer(models=("a", "b")) as server:
        assert [model["id"] for model in fetch(f"{server.base_url}/models").json["data"]] == ["a", "b"]
        assert server.log.exchanges[0].request.wire is Wire.MODELS
