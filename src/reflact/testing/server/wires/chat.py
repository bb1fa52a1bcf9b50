"""Chat Completions."""

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


class ChatFormat:
    """`POST .../chat/completions`."""

    def read(self, body: Body) -> Contents:
        """Flatten a request."""
        messages, images = [], 0
        for message in body.get("messages") or ():
            flat = Flattening().add(message.get("content"))
            for call in message.get("tool_calls") or ():
                function = call.get("function", {})
                flat.add(f"{function.get('name')}({function.get('arguments')})")
            messages.append(SeenMessage(str(message.get("role", "")), flat.text))
            images += flat.images
        wanted = (body.get("response_format") or {}).get("json_schema") or {}
        return Contents(
            model=str(body.get("model", "")),
            messages=tuple(messages),
            images=images,
            schema=wanted.get("schema"),
            schema_name=wanted.get("name", ""),
            max_tokens=positive(body.get("max_completion_tokens", body.get("max_tokens"))),
            stream=bool(body.get("stream")),
            tools=tuple(tool.get("function", {}).get("name", "") for tool in body.get("tools") or ()),
        )

    def answer(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> dict[str, Any]:
        """Return a `chat.completion`."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.text or not reply.tool_calls:
            message["content"] = reply.text
        if reply.tool_calls:
            message["tool_calls"] = _tool_calls(seen, reply)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
        result = {**_head(seen, "chat.completion"), "choices": [choice]}
        if tokens is not None:
            result["usage"] = _usage(tokens)
        return result

    def events(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> list[bytes]:
        """Return the chunks of a stream."""
        head = _head(seen, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            return frame({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        frames = [chunk({"role": "assistant", "content": ""})]
        frames += [chunk({"content": piece}) for piece in pieces(reply.text, reply.pieces)]
        if reply.tool_calls:
            calls = [{"index": index, **call} for index, call in enumerate(_tool_calls(seen, reply))]
            frames.append(chunk({"tool_calls": calls}))
        frames.append(chunk({}, _finish(reply)))
        if tokens is not None and (seen.body.get("stream_options") or {}).get("include_usage"):
            frames.append(frame({**head, "choices": [], "usage": _usage(tokens)}))
        frames.append(b"data: [DONE]\n\n")
        return frames

    def error(self, problem: Problem) -> dict[str, Any]:
        """Return an error's body."""
        return openai_error(problem)


def _head(seen: SeenRequest, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{seen.number}", "object": kind, "created": 1_700_000_000, "model": seen.model}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.tool_calls and reply.finish_reason == "stop" else reply.finish_reason


def _tool_calls(seen: SeenRequest, reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{seen.number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_text(call)},
        }
        for index, call in enumerate(reply.tool_calls)
    ]


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
        "prompt_tokens_details": {"cached_tokens": tokens.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning, "audio_tokens": 0},
    }
