"""Anthropic Messages: what an agent's client sends and reads."""

from __future__ import annotations

from reflact.testing import Fault, Reply, ScriptedServer, ToolCall, Wire

from .conftest import Fetch

BODY = {
    "model": "claude",
    "max_tokens": 30,
    "system": [{"type": "text", "text": "Be short."}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"p": "a.png"}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [
                        {"type": "text", "text": "a file"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
                    ],
                }
            ],
        },
    ],
    "tools": [{"name": "Read", "input_schema": {}}],
}
REPLY = Reply("A cat.", prompt_tokens=50, cached_tokens=20, completion_tokens=3)


def test_a_message(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: REPLY) as server:
        got = fetch(f"{server.url}/v1/messages?beta=true", BODY, {"x-api-key": "k"}).json
        seen = server.log.requests[0]
    assert got["content"] == [{"type": "text", "text": "A cat."}]
    assert got["stop_reason"] == "end_turn"
    # Cached tokens are not part of `input_tokens` in this format.
    assert got["usage"]["input_tokens"] == 30
    assert got["usage"]["cache_read_input_tokens"] == 20
    assert (seen.wire, seen.system, seen.images, seen.tools) == (Wire.MESSAGES, "Be short.", 1, ("Read",))
    assert seen.user == "a file"
    assert "Read(" in seen.messages[2].text
    assert (seen.max_tokens, seen.auth_kind) == (30, "x-api-key")


def test_a_stream(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: REPLY) as server:
        got = fetch(f"{server.url}/v1/messages", {**BODY, "stream": True})
    assert got.headers["Content-Type"] == "text/event-stream"
    kinds = [event["type"] for event in got.events]
    assert kinds == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert got.events[3]["delta"]["text"] == "A cat."
    assert got.events[5]["usage"]["output_tokens"] == 3


def test_tool_use_in_a_stream(fetch: Fetch) -> None:
    reply = Reply("I look.", tool_calls=(ToolCall("Read", {"p": "a"}), ToolCall("Read", {"p": "a"})))
    with ScriptedServer(lambda seen: reply) as server:
        events = fetch(f"{server.url}/v1/messages", {**BODY, "stream": True}).events
    inputs = [event["delta"].get("partial_json") for event in events if event["type"] == "content_block_delta"]
    assert inputs == [None, '{"p": "a"}', '{"p": "a"}']
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_counting_tokens_is_not_a_call(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        assert fetch(f"{server.url}/v1/messages/count_tokens", BODY).json["input_tokens"] > 1000
        assert server.log.calls == ()
        assert server.log.exchanges[0].request.wire is Wire.COUNT_TOKENS


def test_an_error(fetch: Fetch) -> None:
    with ScriptedServer(lambda seen: Fault.http(529)) as server:
        got = fetch(f"{server.url}/v1/messages", BODY)
    assert got.status == 529
    assert got.json["type"] == "error"
    assert got.json["error"]["type"] == "overloaded_error"
