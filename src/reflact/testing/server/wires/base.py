"""What every wire format offers the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reflact.testing.exchange import Reply, SeenMessage, SeenRequest, ToolCall

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a request's body says, whatever its format."""

    model: str = ""
    messages: tuple[SeenMessage, ...] = ()
    images: int = 0
    schema: Mapping[str, Any] | None = None
    schema_name: str = ""
    max_tokens: int | None = None
    stream: bool = False
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """The usage that a reply reports, in tokens; `prompt` includes the cached ones."""

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """An error before it takes a format's form."""

    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class WireFormat(Protocol):
    """One wire format: reads bodies, writes answers and errors."""

    def read(self, body: Body) -> Contents:
        """Flatten a request."""
        ...

    def answer(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> dict[str, Any]:
        """Return the JSON answer."""
        ...

    def events(self, seen: SeenRequest, reply: Reply, tokens: Tokens | None) -> list[bytes]:
        """Return the answer as server-sent events, complete frames in order."""
        ...

    def error(self, problem: Problem) -> dict[str, Any]:
        """Return an error's body."""
        ...


@dataclass(slots=True)
class Flattening:
    """Collects the texts and images of one message's parts."""

    texts: list[str] = field(default_factory=list)
    images: int = 0

    def add(self, content: Any) -> Flattening:
        """Add a text, a part, or a list of parts, however deep they are nested."""
        if isinstance(content, str):
            self.texts.append(content)
        elif isinstance(content, list):
            for part in content:
                self.add(part)
        elif isinstance(content, dict):
            self._add_part(content)
        return self

    def _add_part(self, part: Body) -> None:
        kind = part.get("type", "")
        if "image" in kind:
            self.images += 1
        elif isinstance(part.get("text"), str):
            self.texts.append(part["text"])
        elif kind == "tool_result":
            self.add(part.get("content"))
        elif kind == "tool_use":
            self.texts.append(f"{part.get('name')}({json.dumps(part.get('input'))})")

    @property
    def text(self) -> str:
        """All texts, a line break between them."""
        return "\n".join(self.texts)


def frame(data: Mapping[str, Any], event: str = "") -> bytes:
    """Return one server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def pieces(text: str, count: int) -> list[str]:
    """Cut a text in at most `count` pieces; an empty text has none."""
    size = max(1, -(-len(text) // max(1, count)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def arguments_text(call: ToolCall) -> str:
    """Return a tool call's arguments as the text that goes over the wire."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def positive(value: Any) -> int | None:
    """Return a token cap, None if it is not a number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def openai_error(problem: Problem) -> dict[str, Any]:
    """Return the error body that Chat Completions and Responses share."""
    return {
        "error": {
            "message": problem.message,
            "type": problem.type,
            "param": problem.param,
            "code": problem.code,
            **problem.extra,
        }
    }
