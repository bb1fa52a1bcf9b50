"""The backend `openai_chat`: OpenAI, Azure OpenAI and every server that speaks their API."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from reflact.config.schema import Config
from reflact.core.characters import whole
from reflact.core.errors import ConfigError
from reflact.core.names import Role
from reflact.core.usage import Usage
from reflact.models import chat_api, responses_api
from reflact.models.azure_auth import PROCESS_TOKENS, TokenSource, TokenSources
from reflact.models.chat_api import Sampling
from reflact.models.classify import Problem, classify, read_problem, refuses_images
from reflact.models.endpoints import Endpoint, resolve_endpoint
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure, ModelInfo
from reflact.models.retry_after import retry_after_s
from reflact.models.traits import Trait, is_unknown_value, trait_behind
from reflact.rundir.redact import Redactor


class Answer(Protocol):
    """What a transport brings back, whatever the status."""

    @property
    def status(self) -> int: ...  # noqa: D102
    @property
    def headers(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def content(self) -> bytes: ...  # noqa: D102


class Transport(Protocol):
    """Posts bodies; see `reflact.models.sdk.SdkTransport`."""

    async def post(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Answer: ...  # noqa: D102
    async def aclose(self) -> None: ...  # noqa: D102


def connect(
    config: Config,
    role: Role,
    *,
    environ: Mapping[str, str] | None = None,
    tokens: TokenSources = PROCESS_TOKENS,
) -> ChatModel:
    """Make the client of a role; where a login is needed, it is tried now, before any work begins.

    Args:
        config: The configuration.
        role: Whose client.
        environ: Where keys are looked up; None is the process's environment.
        tokens: Sources of tokens that may be shared.

    Raises:
        ConfigError: The endpoint is contradictory.
        Unavailable: No endpoint, key or login.
    """
    from reflact.models.sdk import SdkTransport  # brings the SDK, which no other command needs

    endpoint = resolve_endpoint(config, role, os.environ if environ is None else environ)
    source = None if endpoint.auth == "api_key" else tokens.source(endpoint.auth, endpoint.client_id)
    if source is not None:
        source.get()
    transport = SdkTransport(endpoint, source)
    return OpenAIChat(config, role, endpoint, transport, source=source)


class OpenAIChat:
    """One role's model behind an OpenAI-compatible API."""

    supports_prefill = False

    def __init__(
        self,
        config: Config,
        role: Role,
        endpoint: Endpoint,
        transport: Transport,
        *,
        source: TokenSource | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._role = role
        self._endpoint = endpoint
        self._transport = transport
        self._source = source
        self._now = now
        self._sampling = _sampling(config, role)
        self._api: str = getattr(config.model, f"{role}_api")
        self._traits: frozenset[Trait] = frozenset({Trait.RESPONSES_ONLY} if self._api == "responses" else ())
        self._notes: list[str] = []

    @property
    def info(self) -> ModelInfo:
        """What is recorded of this model."""
        sampling = self._sampling
        settings = {
            "reasoning_effort": sampling.reasoning_effort,
            "temperature": sampling.temperature,
            "api": self._api,
        }
        return ModelInfo("openai_chat", sampling.model, self._endpoint.public_url, settings=settings)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt; requests that only found out what the server takes are part of it."""
        failed: CallError
        try:
            async with asyncio.timeout(request.timeout_s):
                return await self._complete(request)
        except TimeoutError:
            failed = CallError(Failure.NO_ANSWER, f"no answer within {request.timeout_s:.4g} s")
        except CallError as error:
            failed = self._redacted(error)
        raise failed

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _complete(self, request: ChatRequest) -> ChatReply:
        refusals = 0
        request = _sendable(request)
        while True:
            traits = self._traits
            api = responses_api if Trait.RESPONSES_ONLY in traits else chat_api
            body, sent = api.build(request, self._sampling, traits)
            answer = await self._transport.post(api.PATH, body, request.timeout_s)
            if answer.status < 300:
                reply = api.parse(
                    _json(answer.content), fenced=request.schema is not None and Trait.NO_SCHEMA in traits
                )
                return self._noted(replace(reply, text=whole(reply.text)), refusals)
            problem = read_problem(answer.status, answer.content)
            if refuses_images(problem) and any(message.images for message in request.messages):
                raise self._blind(problem)
            if not self._learn(problem, sent, traits):
                raise classify(problem, retry_after_s(answer.headers, self._now()))
            refusals += 1

    def _learn(self, problem: Problem, sent: frozenset[Trait], known: frozenset[Trait]) -> bool:
        """Take what a refusal teaches; tells whether another request makes sense."""
        if self._api != "auto":
            sent -= {Trait.RESPONSES_ONLY}
        trait = trait_behind(problem, sent, known)
        if trait is None:
            return False
        if trait is Trait.NO_EFFORT and is_unknown_value(problem):
            # Going on with another effort than the one asked for would mislabel every number of the run.
            raise ConfigError(
                f"model.{self._role}_reasoning_effort (or model.reasoning_effort): the {self._role}'s model "
                f"{self._sampling.model} does not take this effort: {problem.message}"
            )
        if trait not in self._traits:  # many calls in flight may learn the same at once
            self._traits |= {trait}
            self._notes.append(f"{self._sampling.model} at {self._endpoint.public_url} {trait.value}")
        return True

    def _blind(self, problem: Problem) -> ConfigError:
        """Return what ends a run at its first image: without eyes the model would fail every item alike."""
        return ConfigError(
            f"model.{self._role}={self._sampling.model}: the model at {self._endpoint.public_url} takes no images, and "
            f"this benchmark sends them ({problem.message}). Choose a model that sees (for llama.cpp's server, also "
            "its --mmproj file)"
        )

    def _noted(self, reply: ChatReply, refusals: int) -> ChatReply:
        if not refusals and not self._notes:
            return reply
        notes, self._notes = tuple(self._notes), []
        return replace(reply, usage=reply.usage + Usage(failed_calls=refusals), notes=notes)

    def _redacted(self, error: CallError) -> CallError:
        """Return an error whose message holds no credential: servers like to repeat the key they refused."""
        token = () if self._source is None else (self._source.shown,)
        error.args = (Redactor((*self._endpoint.secrets, *token)).exact(str(error)),)
        return error.with_traceback(None)


def _sampling(config: Config, role: Role) -> Sampling:
    model = config.model
    own: str | None = getattr(model, f"{role}_reasoning_effort")
    detail = config.env.image_detail if role is Role.STUDENT else "auto"
    return Sampling(
        model=getattr(model, role),
        reasoning_effort=model.reasoning_effort if own is None else own,
        temperature=getattr(model, f"{role}_temperature"),
        image_detail=None if detail == "auto" else detail,
    )


def _sendable(request: ChatRequest) -> ChatRequest:
    """Return the request with whole characters: what an agent printed, say, may have been cut within one."""
    messages = tuple(replace(message, content=whole(message.content)) for message in request.messages)
    return request if messages == request.messages else replace(request, messages=messages)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise CallError(Failure.SERVER, "the server's reply is not JSON", status=200) from None
