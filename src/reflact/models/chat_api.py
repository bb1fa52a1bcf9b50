"""Chat Completions: from a request to a body, from a body to a reply."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from reflact.core.usage import Usage
from reflact.models.classify import classify, problem_of
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, Image, Message
from reflact.models.structured import json_schema_format, unfence, with_schema_in_prompt
from reflact.models.traits import Trait

PATH = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Sampling:
    """What every request of a role carries; None is not sent."""

    model: str
    reasoning_effort: str | None = None
    temperature: float | None = None
    image_detail: str | None = None

    def effort(self, request: ChatRequest) -> str | None:
        """The effort of one call."""
        return self.reasoning_effort if request.reasoning_effort is None else request.reasoning_effort


def build(
    request: ChatRequest, sampling: Sampling, traits: frozenset[Trait]
) -> tuple[dict[str, Any], frozenset[Trait]]:
    """Return the body and the traits that could explain its refusal."""
    if Trait.NO_SCHEMA in traits:
        request = with_schema_in_prompt(request)
    cap = "max_tokens" if Trait.OLD_TOKEN_CAP in traits else "max_completion_tokens"
    body: dict[str, Any] = {
        "model": sampling.model,
        "messages": [_message(message, sampling.image_detail) for message in request.messages],
        cap: request.max_completion_tokens,
    }
    sent = {Trait.OLD_TOKEN_CAP, Trait.RESPONSES_ONLY}
    effort = sampling.effort(request)
    if effort is not None and Trait.NO_EFFORT not in traits:
        body["reasoning_effort"] = effort
        sent.add(Trait.NO_EFFORT)
    if sampling.temperature is not None and Trait.NO_TEMPERATURE not in traits:
        body["temperature"] = sampling.temperature
        sent.add(Trait.NO_TEMPERATURE)
    if request.stop and Trait.NO_STOP not in traits:
        body["stop"] = list(request.stop)
        sent.add(Trait.NO_STOP)
    if request.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": json_schema_format(request.schema)}
        sent.add(Trait.NO_SCHEMA)
    return body, frozenset(sent)


def data_uri(image: Image) -> str:
    """Return an image as a `data:` URI."""
    return f"data:{image.media_type};base64,{b64encode(image.data).decode('ascii')}"


def _message(message: Message, detail: str | None) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
    for image in message.images:
        target = {"url": data_uri(image)} if detail is None else {"url": data_uri(image), "detail": detail}
        parts.append({"type": "image_url", "image_url": target})
    return {"role": message.role, "content": parts}


def parse(body: Any, *, fenced: bool) -> ChatReply:
    """Read a reply.

    Args:
        body: The parsed JSON of an answer with status 200.
        fenced: The schema stood in the prompt, so that a code fence around the JSON value is taken off.

    Raises:
        CallError: `SERVER` if this is no reply, `CONTENT_FILTER` if the reply was filtered.
    """
    choice = _first_choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise CallError(Failure.SERVER, "the server's reply has no message", status=200)
    usage = _usage(body.get("usage"))
    finish = str(choice.get("finish_reason") or "stop")
    if finish == "content_filter":
        raise CallError(
            Failure.CONTENT_FILTER,
            "the reply was stopped by the content filter",
            status=200,
            item_specific=True,
            usage=usage,
        )
    text = _text(message.get("content")) or _text(message.get("refusal"))
    return ChatReply(unfence(text) if fenced else text, finish, usage, str(body.get("model") or ""))


def _first_choice(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise CallError(Failure.SERVER, "the server's reply is not a JSON object", status=200)
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    if body.get("error"):  # gateways report a failure behind them with status 200
        problem = problem_of(500, body)
        code = int(problem.code) if problem.code.isdecimal() else 500
        raise classify(problem_of(code if 400 <= code < 600 else 500, body))
    raise CallError(Failure.SERVER, "the server's reply has no choices", status=200)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in content if isinstance(part, dict))
    return text_of(content)


def text_of(value: Any) -> str:
    """Return a text of a reply, `""` where there is none.

    Raises:
        CallError: `SERVER` if something else stands in its place: neither an answer nor the lack of one.
    """
    if value is None or isinstance(value, str):
        return value or ""
    raise CallError(Failure.SERVER, f"the server's reply has {json.dumps(value)[:60]} for a text", status=200)


def _usage(usage: Any) -> Usage:
    return Usage.reported(
        field(usage, "prompt_tokens"),
        field(usage, "prompt_tokens_details", "cached_tokens"),
        field(usage, "completion_tokens"),
        field(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def field(source: Any, *names: str) -> Any:
    """Return what lies under the names, one in the other; None where anything on the way is no object."""
    for name in names:
        source = source.get(name) if isinstance(source, dict) else None
    return source
