"""The Responses API."""

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
    openai_error,
    pieces,
    positive,
)


class ResponsesFormat:
    """`POST .../responses`."""

    def read(self, body: Body) -> Contents:
        """Flatten a request."""
        messages, images = [], 0
        if body.get("instructions"):
            messages.append(SeenMessage("system", str(body["instructions"])))
        given = body.get("input", ())
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
            message, count = _read_item(item)
            messages.append(message)
            images += count
        wanted = (body.get("text") or {}).get("format") or {}
        return Contents(
            model=str(body.get("model", "")),
            messages=tuple(messages),
            images=images,
            schema=wanted.get("schema") if wanted.get("type") == "json_schema" else None,
            schema_name=wanted.get("name", ""),
            max_tokens=positive(body.get("max_output_tokens")),
            stream=bool(body.get("stream")),
            tools=tuple(tool.get("name", tool.get("type", "")) for tool in body.get("tools") or ()),
        )

    def answer(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> dict[str, Any]:
        """Return a `response`."""
        status = "completed" if reply.finish_reason in ("stop", "tool_calls") else "incomplete"
        result = {**_head(seen), "status": status, "output": _output(seen, reply)}
        if status == "incomplete":
            reason = "max_output_tokens" if reply.finish_reason == "length" else reply.finish_reason
            result["incomplete_details"] = {"reason": reason}
        if tokens is not None:
            result["usage"] = _usage(tokens)
        return result

    def events(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> list[bytes]:
        """Return the events of a stream, numbered in order."""
        started = {**_head(seen), "status": "in_progress", "output": []}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": started},
            {"type": "response.in_progress", "response": started},
        ]
        for index, item in enumerate(_output(seen, reply)):
            events += _item_events(index, item, reply.pieces)
        final = self.answer(seen, reply, tokens)
        events.append({"type": f"response.{final['status']}", "response": final})
        return [frame({**event, "sequence_number": i}, event["type"]) for i, event in enumerate(events)]

    def error(self, problem: Problem) -> dict[str, Any]:
        """Return an error's body."""
        return openai_error(problem)


def _read_item(item: Body) -> tuple[SeenMessage, int]:
    kind = item.get("type", "message")
    if kind in ("function_call", "custom_tool_call"):
        return SeenMessage("assistant", f"{item.get('name')}({item.get('arguments', item.get('input'))})"), 0
    if kind.endswith("_output"):
        flat = Flattening().add(item.get("output"))
        return SeenMessage("tool", flat.text), flat.images
    flat = Flattening().add(item.get("content"))
    return SeenMessage(str(item.get("role", kind)), flat.text), flat.images


def _head(seen: SeenRequest) -> dict[str, Any]:
    return {
        "id": f"resp_{seen.number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": seen.model,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }


def _output(seen: SeenRequest, reply: Reply) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if reply.reasoning_tokens:
        output.append({"type": "reasoning", "id": f"rs_{seen.number}", "summary": []})
    if reply.text or not (reply.tool_calls or reply.finish_reason == "length"):
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        status = "completed" if reply.finish_reason != "length" else "incomplete"
        message = {"type": "message", "id": f"msg_{seen.number}", "role": "assistant", "status": status}
        output.append({**message, "content": [part]})
    for index, call in enumerate(reply.tool_calls):
        custom = isinstance(call.arguments, str)
        output.append(
            {
                "type": "custom_tool_call" if custom else "function_call",
                "id": f"fc_{seen.number}_{index}",
                "call_id": f"call_{seen.number}_{index}",
                "name": call.name,
                "status": "completed",
                "input" if custom else "arguments": arguments_text(call),
            }
        )
    return output


def _item_events(index: int, item: dict[str, Any], count: int) -> list[dict[str, Any]]:
    place = {"output_index": index, "item_id": item["id"]}
    added = dict(item)
    inner: list[dict[str, Any]] = []
    if item["type"] == "message":
        added = {**item, "status": "in_progress", "content": []}
        part = item["content"][0]
        place = {**place, "content_index": 0}
        inner.append({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
        inner += [
            {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
            for piece in pieces(part["text"], count)
        ]
        inner.append({"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []})
        inner.append({"type": "response.content_part.done", **place, "part": part})
    elif item["type"] == "function_call":
        arguments = item["arguments"]
        inner.append({"type": "response.function_call_arguments.delta", **place, "delta": arguments})
        inner.append({"type": "response.function_call_arguments.done", **place, "arguments": arguments})
    return [
        {"type": "response.output_item.added", "output_index": index, "item": added},
        *inner,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.completion,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.completion,
    }
