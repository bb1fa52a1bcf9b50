"""A request of our own on the way that agent programs' requests take, to find out whether the service answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reflact.relay.upstream import Passage, RelayedRequest, Upstream
from reflact.relay.wires import Wire

_HEADERS = {
    "content-type": "application/json",
    "accept": "text/event-stream, application/json",
    "anthropic-version": "2023-06-01",
}


def own_request(
    upstream: Upstream, text: str, most_tokens: int, timeout_s: float, effort: str | None = None
) -> RelayedRequest:
    """Return a request with one message, as `Upstream.complete` takes it; nobody gets the answer's text.

    Args:
        upstream: Whom it is for.
        text: The message.
        most_tokens: Cap on the tokens of the answer.
        timeout_s: Seconds that the answer may take to its first byte.
        effort: Reasoning effort, where the format has one.
    """
    body = _body(upstream.service.wire, upstream.info.model, text, most_tokens, effort)
    passage = Passage(upstream.service.wire.onward, _HEADERS, json.dumps(body).encode(), _begin, _write)
    return RelayedRequest(messages=(), max_completion_tokens=most_tokens, timeout_s=timeout_s, passage=passage)


def _body(wire: Wire, model: str, text: str, most_tokens: int, effort: str | None) -> Mapping[str, Any]:
    said = [{"role": "user", "content": text}]
    if wire is Wire.MESSAGES:
        return {"model": model, "max_tokens": most_tokens, "messages": said, "stream": True}
    reasoning = {} if effort is None else {"reasoning": {"effort": effort}}
    # As Codex asks: nothing is to be stored.
    return {
        "model": model,
        "input": said,
        "max_output_tokens": most_tokens,
        "stream": True,
        "store": False,
        **reasoning,
    }


async def _begin(status: int, headers: Mapping[str, str]) -> None:
    """There is no program that waits for it."""


async def _write(chunk: bytes) -> None:
    """There is no program that reads it."""
