"""What every chat model must keep, whether it lives behind a network or in this process."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from reflact.models.protocol import CallError, ChatModel, ChatReply, Failure
from reflact.testing.conformance.running import request, run_with


class ChatModelConformance(ABC):
    """Inherit this for a model in this process; for one behind HTTP take `HttpChatModelConformance`.

    class TestMine(ChatModelConformance):
        def make_model(self):
            return MyModel()
    """

    slack_s = 2.0
    """How much later than its deadline an attempt may end, on a busy machine."""

    @abstractmethod
    def make_model(self) -> ChatModel:
        """Return a new model; it is closed after each test."""

    @contextmanager
    def open_model(self) -> Iterator[ChatModel]:
        """Return a new model with all it needs to answer; override it to bring a service along."""
        yield self.make_model()

    def test_answers_and_counts(self) -> None:
        """A reply is a text with a reason for its end; it is one call, and the prompt had tokens."""
        with self.open_model() as model:
            reply = run_with(model, lambda model: model.complete(request()))
        assert isinstance(reply.text, str)
        assert reply.finish_reason
        assert reply.usage.calls == 1
        assert reply.usage.failed_calls == 0
        assert reply.usage.prompt_tokens > 0
        assert 0 <= reply.usage.cached_tokens <= reply.usage.prompt_tokens
        assert 0 <= reply.usage.reasoning_tokens <= reply.usage.completion_tokens

    def test_answers_many_at_once(self) -> None:
        """Calls may overlap."""

        async def several(model: ChatModel) -> list[ChatReply]:
            return await asyncio.gather(*(model.complete(request(f"Say {n}.")) for n in range(4)))

        with self.open_model() as model:
            replies = run_with(model, several)
        assert [reply.usage.calls for reply in replies] == [1] * 4

    def test_info_can_be_recorded(self) -> None:
        """What is recorded names the backend, is JSON, and its endpoint holds neither user-info nor query."""
        with self.open_model() as model:
            before = model.info
            run_with(model, lambda model: model.complete(request()))
            assert model.info.backend == before.backend
            assert model.info.backend
            assert isinstance(model.supports_prefill, bool)
            json.dumps(dict(model.info.settings))
            endpoint = urlsplit(model.info.endpoint)
            assert not endpoint.username
            assert not endpoint.password
            assert not endpoint.query

    def test_keeps_its_deadline(self) -> None:
        """An attempt that has no time either answers or says `no_answer`, soon."""

        async def attempt(model: ChatModel) -> CallError | None:
            try:
                await model.complete(request(timeout_s=0.001))
            except CallError as error:
                return error
            return None

        with self.open_model() as model:
            started = time.monotonic()
            error = run_with(model, attempt)
            assert time.monotonic() - started < self.slack_s + 0.001
        assert error is None or error.failure is Failure.NO_ANSWER

    def test_a_cancelled_call_ends_and_harms_no_other(self) -> None:
        """Cancelling one call raises at once and leaves the model usable."""

        async def cancel_one(model: ChatModel) -> tuple[bool, ChatReply]:
            call = asyncio.ensure_future(model.complete(request("Count to a thousand.", cap=512)))
            await asyncio.sleep(0)
            call.cancel()
            ended = await asyncio.wait({call}, timeout=self.slack_s)
            return bool(ended[0]), await model.complete(request())

        with self.open_model() as model:
            ended, reply = run_with(model, cancel_one)
        assert ended
        assert reply.usage.calls == 1

    def test_closes_without_a_call(self) -> None:
        """A model that was never used can be closed."""

        async def nothing(model: ChatModel) -> None:
            return None

        with self.open_model() as model:
            run_with(model, nothing)
