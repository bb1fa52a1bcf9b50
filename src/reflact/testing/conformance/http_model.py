"""What every chat model behind HTTP must keep: one attempt a call, and the right class for every failure."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from reflact.core.usage import Usage
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure, Image, Message, ReplySchema
from reflact.testing.conformance.chat_model import ChatModelConformance
from reflact.testing.conformance.running import request, run_with
from reflact.testing.exchange import Fault, FaultKind, Reply, Responder
from reflact.testing.server.host import ScriptedServer
from reflact.testing.server.picky import Picky

KEY = "sk-conformance-5f3a9c1e7b"
"""The key that a model under test is given; it must not turn up anywhere."""

_SCHEMA = ReplySchema(
    "verdict",
    {
        "type": "object",
        "properties": {"conformance_verdict": {"type": "string"}},
        "required": ["conformance_verdict"],
        "additionalProperties": False,
    },
)
# 1x1 pixel, transparent.
_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fcffff3f030005fe02fea7"
    "9a06a30000000049454e44ae426082"
)

FAILURES = [
    pytest.param(Fault.http(400), Failure.BAD_REQUEST, id="400"),
    pytest.param(Fault.http(401), Failure.AUTH, id="401"),
    pytest.param(Fault.http(404), Failure.NOT_FOUND, id="404"),
    pytest.param(Fault.http(429), Failure.RATE_LIMIT, id="429"),
    pytest.param(Fault.http(429, code="insufficient_quota"), Failure.QUOTA, id="quota"),
    pytest.param(Fault.http(500), Failure.SERVER, id="500"),
    pytest.param(Fault.http(503, body="<html>Service Unavailable</html>"), Failure.SERVER, id="503-html"),
    pytest.param(Fault.content_filter(), Failure.CONTENT_FILTER, id="content-filter"),
    pytest.param(Fault.context_length(), Failure.BAD_REQUEST, id="context-length"),
    pytest.param(Fault.cut(), Failure.CONNECTION, id="cut"),
    pytest.param(Fault(FaultKind.CUT_IN_BODY), Failure.CONNECTION, id="cut-in-body"),
]


class HttpChatModelConformance(ChatModelConformance):
    """Inherit this for a model behind HTTP; it is driven against a scripted server.

    class TestMine(HttpChatModelConformance):
        def connect(self, server, key):
            return MyModel(base_url=server.base_url, api_key=key)
    """

    @abstractmethod
    def connect(self, server: ScriptedServer, key: str) -> ChatModel:
        """Return a new model that asks `server` and presents `key`."""

    def make_model(self) -> ChatModel:
        """Models under test come from `connect`."""
        raise NotImplementedError("a model behind HTTP is made by `connect`")

    @contextmanager
    def open_model(self) -> Iterator[ChatModel]:
        """Return a model with a server that answers."""
        with ScriptedServer(lambda seen: Reply("Hello."), require_auth=KEY) as server:
            yield self.connect(server, KEY)

    def ask(self, server: ScriptedServer, asked: ChatRequest | None = None) -> ChatReply:
        """Make one call of a new model."""
        return run_with(self.connect(server, KEY), lambda model: model.complete(asked or request()))

    def fail(self, responder: Responder, asked: ChatRequest | None = None) -> CallError:
        """Make one call that must fail; return how it did."""
        with ScriptedServer(responder) as server, pytest.raises(CallError) as caught:
            self.ask(server, asked)
        return caught.value

    @pytest.mark.parametrize(("fault", "failure"), FAILURES)
    def test_classifies_failures(self, fault: Fault, failure: Failure) -> None:
        """Every failure has its class, and its status if there was one."""
        error = self.fail(lambda seen: fault)
        assert error.failure is failure
        assert str(error)
        if fault.kind is FaultKind.STATUS:
            assert error.status == fault.status

    @pytest.mark.parametrize("fault", [Fault.content_filter(), Fault.context_length()], ids=["filter", "context"])
    def test_tells_what_concerns_one_request_only(self, fault: Fault) -> None:
        """A refused prompt says nothing about the service."""
        assert self.fail(lambda seen: fault).item_specific

    def test_a_broken_answer_can_be_tried_again(self) -> None:
        """An answer that is not JSON is a retryable failure."""
        assert self.fail(lambda seen: Fault(FaultKind.MALFORMED)).failure.retryable

    @pytest.mark.parametrize("fault", [Fault.http(429, retry_after_s=0), Fault.http(500), Fault.cut()])
    def test_makes_one_attempt(self, fault: Fault) -> None:
        """Nothing is retried behind the caller's back, or attempts would be counted and limited wrongly."""
        with ScriptedServer(lambda seen: fault) as server:
            with pytest.raises(CallError):
                self.ask(server)
            assert len(server.log.calls) == 1

    def test_reads_retry_after_in_seconds(self) -> None:
        """Seconds are taken as they are; without the header nothing is made up."""
        assert self.fail(lambda seen: Fault.http(429, retry_after_s=7)).retry_after_s == pytest.approx(7)
        assert self.fail(lambda seen: Fault.http(429)).retry_after_s is None

    def test_reads_retry_after_as_date(self) -> None:
        """A date becomes seconds from now."""
        seconds = self.fail(lambda seen: Fault.http(503, retry_after_s=30, as_date=True)).retry_after_s
        assert seconds is not None
        assert 20 < seconds <= 32

    @pytest.mark.parametrize("kind", [FaultKind.HANG, FaultKind.HANG_IN_BODY, FaultKind.TRICKLE])
    def test_keeps_the_deadline_of_a_silent_server(self, kind: FaultKind) -> None:
        """The attempt ends in time, as `no_answer`, and its connection is given up."""
        with ScriptedServer(lambda seen: Fault(kind)) as server:
            started = time.monotonic()
            with pytest.raises(CallError) as caught:
                self.ask(server, request(timeout_s=0.4))
            assert time.monotonic() - started < 0.4 + self.slack_s
            assert caught.value.failure is Failure.NO_ANSWER
            server.wait_for(1, ended=True)

    def test_a_server_that_is_not_there_is_a_connection_failure(self) -> None:
        """Refused connections are told apart from silence."""
        with ScriptedServer() as server:
            model = self.connect(server, KEY)
        with pytest.raises(CallError) as caught:
            run_with(model, lambda model: model.complete(request()))
        assert caught.value.failure is Failure.CONNECTION

    def test_counts_what_the_server_counted(self) -> None:
        """Cached tokens are part of the prompt, hidden reasoning is part of the completion; both stay visible."""
        reply = Reply("Hi.", prompt_tokens=100, completion_tokens=20, cached_tokens=40, reasoning_tokens=5)
        with ScriptedServer(lambda seen: reply) as server:
            assert self.ask(server).usage == Usage(1, 0, 100, 40, 20, 5)

    def test_an_answer_without_usage_is_an_answer(self) -> None:
        """Some servers count nothing; the caller then estimates what they took."""
        with ScriptedServer(lambda seen: Reply("Hi.", with_usage=False)) as server:
            reply = self.ask(server)
        assert (reply.text, reply.usage.calls) == ("Hi.", 1)
        assert reply.usage.tokens == reply.usage.estimated_tokens

    def test_an_empty_answer_says_that_it_was_cut(self) -> None:
        """Hidden reasoning that ate the cap leaves an empty text with `length`; that is not an error."""
        with ScriptedServer(lambda seen: Fault.empty()) as server:
            reply = self.ask(server)
        assert (reply.text, reply.finish_reason) == ("", "length")
        assert reply.usage.completion_tokens > 0

    def test_sends_everything(self) -> None:
        """Messages arrive in order, with their roles, images and the cap."""
        messages = (
            Message("system", "Marker alpha."),
            Message("user", "Marker beta."),
            Message("assistant", "Marker gamma."),
            Message("user", "Marker delta: ünïcode.", (Image("image/png", _PNG),)),
        )
        with ScriptedServer(lambda seen: Reply("Hi.")) as server:
            self.ask(server, replace(request(cap=77), messages=messages))
            seen = server.log.requests[-1]
        assert "Marker alpha." in seen.system
        assert [m.text for m in seen.messages if m.role in ("user", "assistant")] == [
            message.content for message in messages[1:]
        ]
        assert seen.images == 1
        assert seen.max_tokens == 77

    def test_asks_for_structured_output(self) -> None:
        """A schema reaches the server."""
        answer = json.dumps({"conformance_verdict": "fine"})
        with ScriptedServer(lambda seen: Reply(answer)) as server:
            assert json.loads(self.ask(server, replace(request(), schema=_SCHEMA)).text)
            seen = server.log.requests[-1]
        assert seen.schema is not None or "conformance_verdict" in seen.text

    def test_falls_back_where_structured_output_is_unknown(self) -> None:
        """A server without it is told in the prompt what is wanted."""
        answer = json.dumps({"conformance_verdict": "fine"})
        with ScriptedServer(Picky(lambda seen: Reply(answer), schemas=False)) as server:
            assert self.ask(server, replace(request(), schema=_SCHEMA)).text == answer
            assert "conformance_verdict" in server.log.requests[-1].text

    def test_presents_its_key_and_never_shows_it(self) -> None:
        """The key reaches the server, and nothing that may be printed, not even if the server repeats it."""
        with ScriptedServer(require_auth=KEY) as server:
            model = self.connect(server, KEY)
            shown = f"{model!r} {model.info!r}"
            run_with(model, lambda model: model.complete(request()))
        error = self.fail(lambda seen: Fault.http(401, message=f"Incorrect API key provided: {KEY}."))
        assert KEY not in f"{shown} {error} {error!r} {error.args}"

    def test_closes_its_connections(self) -> None:
        """Nothing stays open behind a closed model."""
        with ScriptedServer(lambda seen: Reply("Hi.")) as server:
            self.ask(server)
            server.log.wait_until_unconnected()
