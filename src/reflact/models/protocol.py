"""The border between reflact and whatever answers messages.

A backend makes *one attempt* a call and raises `CallError` with a class; retries, limits, deadlines over
several attempts, usage and budgets are the caller's (`reflact.models.caller`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, Self, runtime_checkable

from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.core.types import Rule
from reflact.core.usage import Usage


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a message: its bytes and its MIME type (`image/png`)."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """A JSON schema that the reply must follow, with the name that providers ask for."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a simulating backend needs to know of a student call; real backends ignore it.

    Attributes:
        item_id: The item's id.
        repeat: Which repeat of the evaluation this is.
        skill: The skill's text.
        rehearse: Gives a reply that the benchmark's own extraction and scoring find right (True) or wrong.
        task_type: The item's task type, to which rules may be bound.
        rules: The benchmark's hidden rules (`Chat.rules`).
    """

    item_id: str
    repeat: int
    skill: str
    rehearse: Callable[[bool], str]
    task_type: str = ""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call.

    Attributes:
        messages: The conversation so far.
        max_completion_tokens: Cap on tokens written, hidden reasoning included.
        timeout_s: Seconds that one attempt may take from its start to the last byte.
        schema: Structured output asked for; a backend that cannot enforce it must still say so in the prompt.
        prefill: First words of the reply; given only to backends with `supports_prefill`. The reply's text goes
            on after them and does not repeat them.
        stop: Texts that end the reply, left out of it; an aid that saves tokens, so a backend may ignore it.
        reasoning_effort: Replaces the role's own effort for this call; None keeps it.
        simulation: See `Simulation`.
    """

    messages: tuple[Message, ...]
    max_completion_tokens: int
    timeout_s: float
    schema: ReplySchema | None = None
    prefill: str | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    simulation: Simulation | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An answer.

    Attributes:
        text: May be empty.
        finish_reason: The provider's (`stop`, `length`, ...).
        usage: What the attempt consumed; from `Caller.ask`, what the call consumed with its failed attempts.
        model: The model that the server says it used.
        notes: What a person should know of the server (a setting that it does not take), each said once.
    """

    text: str
    finish_reason: str
    usage: Usage
    model: str = ""
    notes: tuple[str, ...] = ()


class Failure(StrEnum):
    """Why an attempt gave no answer; the value is the `cause` of rows and the key of counters."""

    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    CONNECTION = "connection"
    NO_ANSWER = "no_answer"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    QUOTA = "quota"
    CONTENT_FILTER = "content_filter"
    BAD_REQUEST = "bad_request"

    @property
    def retryable(self) -> bool:
        """Whether another attempt can help."""
        return self in _RETRYABLE

    @property
    def fatal(self) -> bool:
        """Whether every other call will fail in the same way, so that the run must stop at once."""
        return self in _FATAL


_RETRYABLE = frozenset({Failure.RATE_LIMIT, Failure.SERVER, Failure.CONNECTION, Failure.NO_ANSWER})
_FATAL = frozenset({Failure.AUTH, Failure.NOT_FOUND, Failure.QUOTA})


class CallError(Exception):
    """An attempt that gave no answer.

    Attributes:
        failure: The class of the failure.
        status: The HTTP status, if there was one.
        retry_after_s: Seconds that the server asked to wait, if it did.
        item_specific: The failure concerns this one request (content filter, context length, bad image),
            not the service.
        cause: What a row's `cause` says: finer than the class where that is known (`context_length`).
        usage: What was consumed although there is no answer.
    """

    def __init__(
        self,
        failure: Failure,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        item_specific: bool = False,
        cause: str | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.status = status
        self.retry_after_s = retry_after_s
        self.item_specific = item_specific
        self.cause = failure.value if cause is None else cause
        self.usage = Usage() if usage is None else usage


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is recorded of a backend.

    Attributes:
        backend: The backend's name (`openai_chat`).
        model: The model or deployment asked for.
        endpoint: Where calls go, without user-info and query; `""` for models in this process.
        simulated: Answers are simulated; everything made with them is marked.
        settings: Everything else that changes answers (reasoning effort, temperature, weights' hash).
    """

    backend: str
    model: str
    endpoint: str = ""
    simulated: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


class ChatModel(Protocol):
    """Anything that answers messages. Proven by `reflact.testing.ChatModelConformance`."""

    @property
    def info(self) -> ModelInfo:
        """What is recorded of this model."""
        ...

    @property
    def supports_prefill(self) -> bool:
        """Whether `ChatRequest.prefill` is honoured."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt.

        Raises:
            CallError: There was no answer.
        """
        ...

    async def aclose(self) -> None:
        """Release connections; the model is not used again."""
        ...


@runtime_checkable
class Sharing(Protocol):
    """A model that holds something large, which another role of the same run can use with it."""

    def beside(self, config: Config, role: Role) -> Self:
        """Connect another role, with what is already loaded where the settings allow; closed like any other model."""
        ...
