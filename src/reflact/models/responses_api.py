"""The Responses API: from a request to a body, from a body to a reply."""

from __future__ import annotations

from typing import Any

from reflact.core.usage import Usage
from reflact.models.chat_api import Sampling, data_uri, field, text_of
from reflact.models.classify import classify, problem_of
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, Message
from reflact.models.structured import json_schema_format, unfence, with_schema_in_prompt
from reflact.models.traits import Trait

PATH = "/responses"


def build(
    request: ChatRequest, sampling: Sampling, traits: frozenset[Trait]
) -> tuple[dict[str, Any], frozenset[Trait]]:
    """Return the body and the traits that could explain its refusal. This API has no stop texts."""
    if Trait.NO_SCHEMA in traits:
        request = with_schema_in_prompt(request)
    body: dict[str, Any] = {
        "model": sampling.model,
        "input": [_message(message, sampling.image_detail) for message in request.messages],
        "max_output_tokens": request.max_completion_tokens,
        "store": False,
    }
    sent: set[Trait] = set()
    effort = sampling.effort(request)
    if effort is not None and Trait.NO_EFFORT not in traits:
        body["reasoning"] = {"effort": effort}
        sent.add(Trait.NO_EFFORT)
    if sampling.temperature is not None and Trait.NO_TEMPERATURE not in traits:
        body["temperature"] = sampling.temperature
        sent.add(Trait.NO_TEMPERATURE)
    if request.schema is not None:
        body["text"] = {"format": {"type": "json_schema", **json_schema_format(request.schema)}}
        sent.add(Trait.NO_SCHEMA)
    return body, frozenset(sent)


def _message(message: Message, detail: str | None) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": message.content}] if message.content else []
    for image in message.images:
        parts.append(
            {"type": "input_image", "image_url": data_uri(image), "detail": "auto" if detail is None else detail}
        )
    return {"role": message.role, "content": parts}


def parse(body: Any, *, fenced: bool) -> ChatReply:
    """Read a reply; see `chat_api.parse`."""
    if not isinstance(body, dict):
        raise CallError(Failure.SERVER, "the server's reply is not a JSON object", status=200)
    usage = _usage(body.get("usage"))
    status = body.get("status")
    output = body.get("output")
    if status == "failed" or (body.get("error") and not output):
        raise classify(problem_of(_status_of(body), body))
    if not isinstance(output, list) or status in ("cancelled", "queued", "in_progress"):
        raise CallError(Failure.SERVER, f"the server's reply is not complete (status {status})", status=200)
    finish = "stop"
    if status == "incomplete":
        reason = field(body, "incomplete_details", "reason")
        finish = "length" if reason == "max_output_tokens" else str(reason or "incomplete")
    if finish == "content_filter":
        raise CallError(
            Failure.CONTENT_FILTER,
            "the reply was stopped by the content filter",
            status=200,
            item_specific=True,
            usage=usage,
        )
    text = "".join(_texts(output))
    return ChatReply(unfence(text) if fenced else text, finish, usage, str(body.get("model") or ""))


def _status_of(body: dict[str, Any]) -> int:
    code = str(field(body, "error", "code") or "")
    if code in ("rate_limit_exceeded", "insufficient_quota"):
        return 429
    return 400 if code.startswith(("invalid_", "image_", "unsupported_", "content_", "context_")) else 500


def _texts(output: list[Any]) -> list[str]:
    parts = [
        part
        for item in output
        if isinstance(item, dict) and item.get("type") == "message"
        for part in _list(item.get("content"))
        if isinstance(part, dict)
    ]
    said = [text_of(part.get("text")) for part in parts if part.get("type") == "output_text"]
    return said or [text_of(part.get("refusal")) for part in parts if part.get("type") == "refusal"]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _usage(usage: Any) -> Usage:
    return Usage.reported(
        field(usage, "input_tokens"),
        field(usage, "input_tokens_details", "cached_tokens"),
        field(usage, "output_tokens"),
        field(usage, "output_tokens_details", "reasoning_tokens"),
    )
