"""Anthropic Messages."""

from __future__ import annotations

from typing import Any

from reflact.testing.exchange import Reply, SeenMessage, SeenRequest
from reflact.testing.server.wires.base import (
    Body,
    Contents,
    Flattening,
    Problem,
    Tokens,
    arguments_text,
    frame,
    pieces,
    positive,
)


class MessagesFormat:
    """`POST /v1/messages`."""

    def read(self, body: Body) -> Contents:
        """Flatten a request."""
        messages, images = [], 0
        if body.get("system"):
            messages.append(SeenMessage("system", Flattening().add(body["system"]).text))
        for message in body.get("messages") or ():
            flat = Flattening().add(message.get("content"))
            messages.append(SeenMessage(str(message.get("role", "")), flat.text))
            images += flat.images
        wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return Contents(
            model=str(body.get("model", "")),
            messages=tuple(messages),
            images=images,
            schema=wanted.get("schema"),
            schema_name=wanted.get("name", ""),
            max_tokens=positive(body.get("max_tokens")),
            stream=bool(body.get("stream")),
            tools=tuple(tool.get("name", "") for tool in body.get("tools") or ()),
        )

    def answer(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> dict[str, Any]:
        """Return a `message`."""
        return {
            **_head(seen),
            "content": _content(seen, reply),
            "stop_reason": _stop_reason(reply),
            "usage": _usage(tokens or Tokens(0, 0)),
        }

    def events(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> list[bytes]:
        """Return the events of a stream."""
        counted = tokens or Tokens(0, 0)
        start = {**_head(seen), "content": [], "usage": {**_usage(counted), "output_tokens": 1}}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
        for index, block in enumerate(_content(seen, reply)):
            events += _block_events(index, block, reply)
        delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": counted.completion}})
        events.append({"type": "message_stop"})
        return [frame(event, event["type"]) for event in events]

    def error(self, problem: Problem) -> dict[str, Any]:
        """Return an error's body, whose type follows from the status."""
        return {"type": "error", "error": {"type": _error_type(problem.status), "message": problem.message}}


def _head(seen: SeenRequest) -> dict[str, Any]:
    return {
        "id": f"msg_{seen.number}",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "stop_reason": None,
        "stop_sequence": None,
    }


def _content(seen: SeenRequest, reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    for index, call in enumerate(reply.tool_calls):
        block = {"type": "tool_use", "id": f"toolu_{seen.number}_{index}", "name": call.name}
        blocks.append({**block, "input": call.arguments})
    return blocks


def _block_events(index: int, block: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    if block["type"] == "text":
        opened: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], reply.pieces)]
    else:
        opened = {**block, "input": {}}
        call = next(call for call in reply.tool_calls if call.arguments is block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": arguments_text(call)}]
    return [
        {"type": "content_block_start", "index": index, "content_block": opened},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _stop_reason(reply: Reply) -> str:
    if reply.tool_calls and reply.finish_reason == "stop":
        return "tool_use"
    names = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
    return names.get(reply.finish_reason, reply.finish_reason)


def _usage(tokens: Tokens) -> dict[str, Any]:
    # Unlike the OpenAI formats, cached tokens are not part of `input_tokens` here.
    return {
        "input_tokens": tokens.prompt - tokens.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.completion,
    }


def _error_type(status: int) -> str:
    names = {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    return names.get(status, "api_error" if status >= 500 else "invalid_request_error")
