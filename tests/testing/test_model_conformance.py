"""The conformance class passes a sound model and finds each fault of a broken one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import aiohttp
import pytest

from reflact.core.usage import Usage
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, ModelInfo
from reflact.testing import (
    ChatModelConformance,
    Fault,
    FaultKind,
    HttpChatModelConformance,
    ScriptedServer,
)

from .plain_model import PlainModel


class TestPlainModel(HttpChatModelConformance):
    def connect(self, server: ScriptedServer, key: str) -> PlainModel:
        return PlainModel(server.base_url, key)


class Parrot:
    """A model in this process."""

    info = ModelInfo("parrot", "parrot-1", settings={"loud": True})
    supports_prefill = False

    async def complete(self, request: ChatRequest) -> ChatReply:
        return ChatReply(request.messages[-1].content, "stop", Usage(calls=1, prompt_tokens=3, completion_tokens=3))

    async def aclose(self) -> None:
        return None


class TestParrot(ChatModelConformance):
    def make_model(self) -> Parrot:
        return Parrot()


class Retries(PlainModel):
    async def complete(self, request: ChatRequest) -> ChatReply:
        try:
            return await super().complete(request)
        except CallError:
            return await super().complete(request)


class NeverGivesUp(PlainModel):
    async def complete(self, request: ChatRequest) -> ChatReply:
        return await super().complete(replace(request, timeout_s=1.0))


class ShowsItsKey(PlainModel):
    def __repr__(self) -> str:
        return f"ShowsItsKey({self._key})"


class RepeatsItsKey(PlainModel):
    def _error(self, response: aiohttp.ClientResponse, text: str) -> CallError:
        return CallError(Failure.AUTH, text)


class MistakesFilters(PlainModel):
    def _error(self, response: aiohttp.ClientResponse, text: str) -> CallError:
        return CallError(Failure.BAD_REQUEST, "refused", status=response.status)


class CountsNothing(PlainModel):
    async def complete(self, request: ChatRequest) -> ChatReply:
        return replace(await super().complete(request), usage=Usage(calls=1))


class ForgetsTheCap(PlainModel):
    async def complete(self, request: ChatRequest) -> ChatReply:
        return await super().complete(replace(request, max_completion_tokens=5))


class ForgetsTheSchema(PlainModel):
    async def complete(self, request: ChatRequest) -> ChatReply:
        return await super().complete(replace(request, schema=None))


Check = Callable[[HttpChatModelConformance], None]
BROKEN: list[tuple[type[PlainModel], Check]] = [
    (Retries, lambda c: c.test_makes_one_attempt(Fault.http(500))),
    (NeverGivesUp, lambda c: c.test_keeps_the_deadline_of_a_silent_server(FaultKind.HANG)),
    (ShowsItsKey, lambda c: c.test_presents_its_key_and_never_shows_it()),
    (RepeatsItsKey, lambda c: c.test_presents_its_key_and_never_shows_it()),
    (MistakesFilters, lambda c: c.test_classifies_failures(Fault.content_filter(), Failure.CONTENT_FILTER)),
    (MistakesFilters, lambda c: c.test_tells_what_concerns_one_request_only(Fault.context_length())),
    (MistakesFilters, lambda c: c.test_reads_retry_after_in_seconds()),
    (CountsNothing, lambda c: c.test_answers_and_counts()),
    (CountsNothing, lambda c: c.test_counts_what_the_server_counted()),
    (ForgetsTheCap, lambda c: c.test_sends_everything()),
    (ForgetsTheSchema, lambda c: c.test_asks_for_structured_output()),
]


@pytest.mark.parametrize(("kind", "check"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_model_is_found_out(kind: type[PlainModel], check: Check) -> None:
    class Conformance(HttpChatModelConformance):
        slack_s = 0.3

        def connect(self, server: ScriptedServer, key: str) -> PlainModel:
            return kind(server.base_url, key)

    with pytest.raises(AssertionError):
        check(Conformance())
