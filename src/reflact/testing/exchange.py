"""What a scripted server sees and what it may answer: the vocabulary of responders."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from reflact.core.types import Json


class Wire(StrEnum):
    """The wire format of a request."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"
    COUNT_TOKENS = "count_tokens"
    MODELS = "models"
    TOKEN = "token"
    OTHER = "other"

    @property
    def is_call(self) -> bool:
        """Whether requests of this format ask a model for an answer."""
        return self in (Wire.CHAT, Wire.RESPONSES, Wire.MESSAGES)


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """One message of a request: its parts flattened into one text, tool calls and results included."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request as it arrived.

    Attributes:
        number: Its place among the model calls of this server, from 1; 0 for requests that are not calls.
        wire: The wire format.
        method: The HTTP method.
        path: The URL's path, without the query.
        query: The URL's query.
        headers: Header names in lower case; credentials are left out.
        auth: First 12 hex digits of the credential's sha256, `""` if there was none. Never the credential.
        auth_kind: How it was presented: `bearer`, `api-key`, `x-api-key` or `""`.
        model: Model or deployment asked for.
        messages: The conversation, instructions and system prompt first.
        images: How many images it holds.
        schema: The JSON schema asked for as structured output, if any.
        schema_name: The schema's name, `""` if it has none.
        max_tokens: Cap on the reply's tokens, under whichever name it came.
        stream: Whether events were asked for.
        tools: Names of the tools offered.
        repeat: How many requests with the very same body came before.
        body: The parsed body.
    """

    number: int
    wire: Wire
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: str = ""
    auth_kind: str = ""
    model: str = ""
    messages: tuple[SeenMessage, ...] = ()
    images: int = 0
    schema: Mapping[str, Any] | None = None
    schema_name: str = ""
    max_tokens: int | None = None
    stream: bool = False
    tools: tuple[str, ...] = ()
    repeat: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def system(self) -> str:
        """All system and developer messages."""
        return "\n\n".join(message.text for message in self.messages if message.role in ("system", "developer"))

    @property
    def user(self) -> str:
        """The last user message, `""` if there is none."""
        return next((message.text for message in reversed(self.messages) if message.role == "user"), "")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the reply makes.

    Attributes:
        name: The tool's name.
        arguments: Its arguments as an object; a text for tools with free-form input (`apply_patch` of Codex).
    """

    name: str
    arguments: Mapping[str, Json] | str = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        text: What the model says.
        finish_reason: In the words of Chat Completions; translated for the other formats.
        tool_calls: Tools called after the text.
        prompt_tokens: Tokens read; None counts the request's characters, four a token.
        completion_tokens: Tokens written; None counts the reply's characters.
        cached_tokens: The part of the prompt that came from a cache.
        reasoning_tokens: The hidden part of the completion; added to a counted `completion_tokens`.
        with_usage: Whether the reply reports usage at all.
        latency_s: Seconds before the answer begins; None takes the server's.
        pieces: In how many pieces a streamed text comes.
        pause_s: Seconds between the events of a stream.
    """

    text: str = ""
    finish_reason: str = "stop"
    tool_calls: tuple[ToolCall, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    with_usage: bool = True
    latency_s: float | None = None
    pieces: int = 1
    pause_s: float = 0.0


class FaultKind(StrEnum):
    """Ways in which a service fails."""

    STATUS = "status"
    CONTENT_FILTER = "content_filter"
    CONTEXT_LENGTH = "context_length"
    REJECT_PARAMETER = "reject_parameter"
    REJECT_SCHEMA = "reject_schema"
    ONLY_RESPONSES = "only_responses"
    HANG = "hang"
    HANG_IN_BODY = "hang_in_body"
    TRICKLE = "trickle"
    CUT = "cut"
    CUT_IN_BODY = "cut_in_body"
    EMPTY = "empty"
    MALFORMED = "malformed"
    LYING_USAGE = "lying_usage"


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure; the class methods name the common ones.

    Attributes:
        kind: What goes wrong.
        status: HTTP status of `STATUS`.
        retry_after_s: Seconds for a `Retry-After` header.
        retry_after_as_date: Give the header as an HTTP date instead of seconds.
        message: Replaces the error's usual message.
        code: Replaces the error's usual code (`insufficient_quota`).
        parameter: The parameter that `REJECT_PARAMETER` complains about.
        body: Replaces the whole body of an error, JSON or not.
        text: What of an answer gets through, for the kinds that send some of it.
        latency_s: Seconds before it happens; None takes the server's.
    """

    kind: FaultKind
    status: int = 500
    retry_after_s: float | None = None
    retry_after_as_date: bool = False
    message: str = ""
    code: str = ""
    parameter: str = ""
    body: str | None = None
    text: str = "This answer is not"
    latency_s: float | None = None

    @classmethod
    def http(
        cls,
        status: int,
        *,
        retry_after_s: float | None = None,
        as_date: bool = False,
        message: str = "",
        code: str = "",
        body: str | None = None,
    ) -> Fault:
        """An HTTP error status."""
        return cls(
            FaultKind.STATUS,
            status=status,
            retry_after_s=retry_after_s,
            retry_after_as_date=as_date,
            message=message,
            code=code,
            body=body,
        )

    @classmethod
    def reject(cls, parameter: str) -> Fault:
        """A 400 that does not know `parameter` (`max_tokens`, `temperature`)."""
        return cls(FaultKind.REJECT_PARAMETER, parameter=parameter)

    @classmethod
    def content_filter(cls) -> Fault:
        """A 400 of the content filter."""
        return cls(FaultKind.CONTENT_FILTER)

    @classmethod
    def context_length(cls) -> Fault:
        """A 400 because the prompt is too long."""
        return cls(FaultKind.CONTEXT_LENGTH)

    @classmethod
    def hang(cls) -> Fault:
        """Silence before the headers, until the client leaves or the server stops."""
        return cls(FaultKind.HANG)

    @classmethod
    def cut(cls) -> Fault:
        """The connection is cut before the headers."""
        return cls(FaultKind.CUT)

    @classmethod
    def empty(cls) -> Fault:
        """An answer without text whose hidden reasoning ate the whole token cap (`length`)."""
        return cls(FaultKind.EMPTY)


Answer = Reply | Fault
"""What a responder may give."""

Responder = Callable[[SeenRequest], Answer | Awaitable[Answer]]
"""Decides what a server does with a call; runs in the server's thread."""
