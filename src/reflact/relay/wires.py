"""The two wire formats that agent programs speak, as far as a relay has to read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from reflact.core.usage import Usage, counted

_ENDS = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
}


class Wire(StrEnum):
    """A wire format."""

    RESPONSES = "responses"
    MESSAGES = "messages"

    @property
    def path(self) -> str:
        """Where calls go, below the base URL that the program is given."""
        return f"/v1/{self.value}"

    @property
    def onward(self) -> str:
        """Where calls go, below the base URL of the service."""
        return "/responses" if self is Wire.RESPONSES else "/v1/messages"


class Kind(StrEnum):
    """What a request wants."""

    CALL = "call"
    COUNT = "count"
    MODELS = "models"


def kind_of(wire: Wire, method: str, path: str) -> Kind | None:
    """Return what a request wants; None if it is none of the few that are let through."""
    if method == "POST" and path == wire.path:
        return Kind.CALL
    if method == "POST" and wire is Wire.MESSAGES and path == f"{wire.path}/count_tokens":
        return Kind.COUNT
    return Kind.MODELS if method == "GET" and path == "/v1/models" else None


def error_body(wire: Wire, kind: str, message: str) -> bytes:
    """Return the body of an error of ours, in the words of the format."""
    error = {"type": kind, "message": message}
    body = {"type": "error", "error": error} if wire is Wire.MESSAGES else {"error": {**error, "code": kind}}
    return json.dumps(body).encode()


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a request's body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)


def images_in(value: Any) -> int:
    """Return how many images a request's body holds."""
    if isinstance(value, Mapping):
        if value.get("type") == "input_image" or (value.get("type") == "image" and "source" in value):
            return 1
        return sum(images_in(part) for part in value.values())
    return sum(images_in(part) for part in value) if isinstance(value, list) else 0


@dataclass(slots=True)
class Reading:
    """What an answer says of itself, read while it passes through.

    Attributes:
        wire: Its format.
        stream: It comes as events; otherwise as one JSON object.
        complete: It came to its own end.
        error: What it says is wrong, if the answer itself is a failure.
        end: Why it ended: `length` if it was cut at a cap, `content_filter`, else `stop`.
    """

    wire: Wire
    stream: bool
    complete: bool = False
    error: str = ""
    end: str = "stop"
    _rest: bytes = b""
    _prompt: int = 0
    _cached: int = 0
    _completion: int = 0
    _reasoning: int = 0
    _counted: bool = False

    @property
    def usage(self) -> Usage | None:
        """What was counted so far; None if nothing was."""
        if not self._counted:
            return None
        # Who makes the call counts it.
        return replace(Usage.reported(self._prompt, self._cached, self._completion, self._reasoning), calls=0)

    def feed(self, chunk: bytes) -> None:
        """Read a piece of the answer."""
        self._rest += chunk
        if not self.stream:
            return
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._event(_object(line[5:]))

    def finish(self) -> None:
        """Read what is left when the answer has ended."""
        if self.stream:
            self.feed(b"\n")
            return
        body = _object(self._rest)
        self.complete = bool(body)
        self._ended(body)
        self._count(body.get("usage"))

    def _event(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            response = _part(event, "response")
            self.complete = True
            self._ended(response)
            self._count(response.get("usage"))
            if kind == "response.failed":
                self.error = str(_part(response, "error").get("message", "the response failed"))
        elif kind == "message_start":
            self._count(_part(event, "message").get("usage"))
        elif kind == "message_delta":
            self._ended(_part(event, "delta"))
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.complete = True
        elif kind == "error":
            error = event.get("error")
            self.error = str((error if isinstance(error, Mapping) else event).get("message", "an error event"))

    def _ended(self, told: Mapping[str, Any]) -> None:
        reason = _part(told, "incomplete_details").get("reason") or told.get("stop_reason")
        self.end = _ENDS.get(str(reason), self.end)

    def _count(self, usage: Any) -> None:
        if not isinstance(usage, Mapping):
            return
        self._counted = True
        if self.wire is Wire.RESPONSES:
            self._prompt = _number(usage, "input_tokens", self._prompt)
            self._cached = _number(usage.get("input_tokens_details"), "cached_tokens", self._cached)
            self._completion = _number(usage, "output_tokens", self._completion)
            self._reasoning = _number(usage.get("output_tokens_details"), "reasoning_tokens", self._reasoning)
            return
        # Here cached tokens are not part of `input_tokens`; later events repeat or leave out what earlier ones said.
        if "input_tokens" in usage:
            self._cached = _number(usage, "cache_read_input_tokens", self._cached)
            written = _number(usage, "cache_creation_input_tokens", 0)
            self._prompt = _number(usage, "input_tokens", 0) + written + self._cached
        self._completion = _number(usage, "output_tokens", self._completion)


def _object(text: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _part(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = values.get(name)
    return part if isinstance(part, Mapping) else {}


def _number(values: Any, name: str, other: int) -> int:
    """Return a count, at least the one that was known before: what an answer has cost does not fall."""
    return max(other, counted(values.get(name))) if isinstance(values, Mapping) else other
