from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.names import Role
from reflact.core.usage import Usage
from reflact.models.openai_chat import connect
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure, Image, Message, ReplySchema
from reflact.testing import Fault, FaultKind, Picky, Reply, ScriptedServer, SeenRequest, Wire

from .support import request

Serve = Callable[..., ScriptedServer]
SCHEMA = ReplySchema(
    "verdict",
    {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False},
)


def config_for(server: ScriptedServer, **model: Any) -> Config:
    config = Config()
    config.model.student_base_url = server.base_url
    for name, value in model.items():
        setattr(config.model, name, value)
    return config


def use(config: Config, work: Callable[[ChatModel], Awaitable[Any]], **environ: str) -> Any:
    async def run() -> Any:
        model = connect(config, Role.STUDENT, environ=environ)
        try:
            return await work(model)
        finally:
            await model.aclose()

    return asyncio.run(run())


def ask(config: Config, *requests: ChatRequest, **environ: str) -> list[ChatReply]:
    async def work(model: ChatModel) -> list[ChatReply]:
        return [await model.complete(one) for one in requests or (request(),)]

    got: list[ChatReply] = use(config, work, **environ)
    return got


def failure_of(config: Config, asked: ChatRequest | None = None, **environ: str) -> CallError:
    with pytest.raises(CallError) as caught:
        ask(config, *([] if asked is None else [asked]), **environ)
    return caught.value


def test_a_reply_with_its_usage(serve: Serve) -> None:
    server = serve(lambda _: Reply("42", prompt_tokens=30, cached_tokens=20, completion_tokens=9, reasoning_tokens=4))
    (got,) = ask(config_for(server))
    assert (got.text, got.finish_reason, got.model, got.notes) == ("42", "stop", "gpt-5.5", ())
    assert got.usage == Usage(1, 0, 30, 20, 9, 4)


def test_only_what_newer_models_take_is_sent(serve: Serve) -> None:
    server = serve()
    ask(config_for(server))
    body = server.log.requests[0].body
    assert set(body) == {"model", "messages", "max_completion_tokens", "reasoning_effort"}
    assert (body["max_completion_tokens"], body["reasoning_effort"]) == (100, "medium")


def test_settings_of_the_role_and_of_one_call(serve: Serve) -> None:
    server = serve()
    config = config_for(server, student_temperature=0.0, student_reasoning_effort="low")
    ask(config, request(), request(reasoning_effort="high", stop=("END",)))
    first, second = (seen.body for seen in server.log.requests)
    assert (first["temperature"], first["reasoning_effort"]) == (0.0, "low")
    assert (second["reasoning_effort"], second["stop"]) == ("high", ["END"])


def test_no_effort_is_sent_when_none_is_configured(serve: Serve) -> None:
    server = serve()
    ask(config_for(server, reasoning_effort=None))
    assert "reasoning_effort" not in server.log.requests[0].body


def test_a_server_without_the_newer_token_cap(serve: Serve) -> None:
    server = serve(Picky(lambda _: Reply("ok"), rejected=("max_completion_tokens",)))
    first, second = ask(config_for(server), request(), request())
    assert [set(seen.body) & {"max_tokens", "max_completion_tokens"} for seen in server.log.requests] == [
        {"max_completion_tokens"},
        {"max_tokens"},
        {"max_tokens"},
    ]
    assert "max_tokens" in first.notes[0] and second.notes == ()
    assert (first.usage.failed_calls, second.usage.failed_calls) == (1, 0)


@pytest.mark.parametrize("parameter", ["reasoning_effort", "temperature", "stop"])
def test_a_parameter_that_a_server_refuses_is_dropped_once_for_all(serve: Serve, parameter: str) -> None:
    server = serve(Picky(lambda _: Reply("ok"), rejected=(parameter,)))
    asked = request(stop=("END",))
    got = ask(config_for(server, student_temperature=0.5), asked, asked)
    assert [parameter in seen.body for seen in server.log.requests] == [True, False, False]
    assert len(got[0].notes) == 1 and not got[1].notes


def test_several_refusals_are_learnt_in_one_call(serve: Serve) -> None:
    server = serve(Picky(lambda _: Reply("{}"), ("reasoning_effort", "temperature", "max_completion_tokens"), False))
    (got,) = ask(config_for(server, student_temperature=0.5), request(schema=SCHEMA))
    assert len(got.notes) == 4 and got.usage.failed_calls == 4


def test_many_calls_in_flight_learn_the_same_and_say_it_once(serve: Serve) -> None:
    server = serve(Picky(lambda _: Reply("ok"), rejected=("temperature",)), latency_s=0.02)

    async def work(model: ChatModel) -> list[ChatReply]:
        return await asyncio.gather(*[model.complete(request()) for _ in range(16)])

    got = use(config_for(server, student_temperature=1.0), work)
    assert [reply.text for reply in got] == ["ok"] * 16
    assert sum(len(reply.notes) for reply in got) == 1


def test_an_effort_that_the_model_does_not_know_is_an_error_and_not_dropped(serve: Serve) -> None:
    message = "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model."
    body = json.dumps({"error": {"message": message, "code": "unsupported_value", "param": "reasoning_effort"}})
    server = serve(lambda _: Fault.http(400, body=body))
    with pytest.raises(ConfigError, match=r"student_reasoning_effort.*does not support 'minimal'"):
        ask(config_for(server, reasoning_effort="minimal"))


def test_a_schema_is_enforced_by_the_server(serve: Serve) -> None:
    server = serve(lambda _: Reply('{"ok": true}'))
    ask(config_for(server), request(schema=SCHEMA))
    sent = server.log.requests[0].body["response_format"]
    assert sent == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "schema": SCHEMA.schema, "strict": True},
    }


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_schema_that_the_server_cannot_enforce_goes_into_the_prompt(serve: Serve, api: str) -> None:
    server = serve(Picky(lambda _: Reply('```json\n{"ok": true}\n```'), schemas=False))
    got = ask(config_for(server, student_api=api), request(schema=SCHEMA), request(schema=SCHEMA))
    assert [reply.text for reply in got] == ['{"ok": true}'] * 2
    refused, *served = server.log.requests
    assert refused.schema is not None and "```json" not in refused.text
    assert all(seen.schema is None and '"ok"' in seen.user for seen in served) and len(served) == 2


def test_images_are_data_uris(serve: Serve) -> None:
    server = serve()
    message = Message("user", "look", (Image("image/png", b"\x89PNG"),))
    config = config_for(server)
    config.env.image_detail = "high"
    ask(config, ChatRequest((message,), 10, 10.0))
    seen = server.log.requests[0]
    assert seen.images == 1
    assert seen.body["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw==", "detail": "high"}},
    ]


def test_responses_api_when_asked_for(serve: Serve) -> None:
    server = serve(lambda _: Reply("42", prompt_tokens=30, cached_tokens=20, completion_tokens=9, reasoning_tokens=4))
    message = Message("user", "look", (Image("image/png", b"x"),))
    config = config_for(server, student_api="responses", student_temperature=0.5)
    (got,) = ask(config, ChatRequest((Message("system", "s"), message), 77, 10.0, schema=SCHEMA))
    assert (got.text, got.finish_reason, got.usage) == ("42", "stop", Usage(1, 0, 30, 20, 9, 4))
    seen = server.log.requests[0]
    assert (seen.wire, seen.images, seen.max_tokens, seen.schema_name) == (Wire.RESPONSES, 1, 77, "verdict")
    assert seen.body["reasoning"] == {"effort": "medium"} and seen.body["store"] is False


def test_responses_api_when_the_deployment_has_only_that(serve: Serve) -> None:
    server = serve(Picky(lambda _: Reply("ok"), only_responses=True))
    first, second = ask(config_for(server), request(), request())
    assert [seen.wire for seen in server.log.requests] == [Wire.CHAT, Wire.RESPONSES, Wire.RESPONSES]
    assert "Responses API" in first.notes[0] and not second.notes


def test_no_other_api_when_chat_is_asked_for(serve: Serve) -> None:
    server = serve(Picky(lambda _: Reply("ok"), only_responses=True))
    assert failure_of(config_for(server, student_api="chat")).failure is Failure.NOT_FOUND


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_reply_eaten_by_reasoning_is_empty_and_says_length(serve: Serve, api: str) -> None:
    server = serve(lambda _: Fault.empty())
    (got,) = ask(config_for(server, student_api=api))
    assert (got.text, got.finish_reason) == ("", "length") and got.usage.reasoning_tokens > 0


@pytest.mark.parametrize(
    ("fault", "failure", "cause"),
    [
        (Fault.http(401), Failure.AUTH, "auth"),
        (Fault.http(403), Failure.AUTH, "auth"),
        (Fault.http(404), Failure.NOT_FOUND, "not_found"),
        (Fault.http(429), Failure.RATE_LIMIT, "rate_limit"),
        (Fault.http(429, code="insufficient_quota"), Failure.QUOTA, "quota"),
        (Fault.http(500), Failure.SERVER, "server"),
        (Fault.http(529), Failure.SERVER, "server"),
        (Fault.content_filter(), Failure.CONTENT_FILTER, "content_filter"),
        (Fault.context_length(), Failure.BAD_REQUEST, "context_length"),
        (Fault(FaultKind.MALFORMED), Failure.SERVER, "server"),
        (Fault.cut(), Failure.CONNECTION, "connection"),
        (Fault(FaultKind.CUT_IN_BODY), Failure.CONNECTION, "connection"),
    ],
    ids=lambda value: (getattr(value, "kind", None) and f"{value.kind}-{value.status}-{value.code}") or str(value),
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_failures_have_their_class_and_one_request(
    serve: Serve, fault: Fault, failure: Failure, cause: str, api: str
) -> None:
    server = serve(lambda _: fault)
    error = failure_of(config_for(server, student_api=api))
    assert (error.failure, error.cause) == (failure, cause)
    assert len(server.log.calls) == 1, "the SDK must not try again on its own"


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after(serve: Serve, as_date: bool) -> None:
    server = serve(lambda _: Fault.http(429, retry_after_s=30, as_date=as_date))
    assert failure_of(config_for(server)).retry_after_s == pytest.approx(30, abs=2)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [{"index": 0}]},
        [],
        {"error": {"message": "behind the gateway", "code": 503}},
    ],
)
def test_a_reply_that_is_none_is_the_servers_fault(serve: Serve, body: Any) -> None:
    server = serve(lambda _: Fault.http(200, body=json.dumps(body)))
    assert failure_of(config_for(server)).failure is Failure.SERVER


def test_a_gateway_that_says_429_in_a_200(serve: Serve) -> None:
    server = serve(lambda _: Fault.http(200, body=json.dumps({"error": {"message": "busy", "code": 429}})))
    assert failure_of(config_for(server)).failure is Failure.RATE_LIMIT


def test_a_filtered_reply_is_refused_and_paid(serve: Serve) -> None:
    server = serve(lambda _: Reply("half a", finish_reason="content_filter", prompt_tokens=8, completion_tokens=2))
    error = failure_of(config_for(server))
    assert error.failure is Failure.CONTENT_FILTER and error.item_specific
    assert (error.usage.prompt_tokens, error.usage.completion_tokens) == (8, 2)


def test_a_refusal_is_what_the_model_says(serve: Serve) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": None}
    server = serve(lambda _: Fault.http(200, body=json.dumps(body)))
    (got,) = ask(config_for(server))
    assert (got.text, got.usage) == ("I will not.", Usage(calls=1))


@pytest.mark.parametrize("kind", [FaultKind.HANG, FaultKind.HANG_IN_BODY])
def test_silence_ends_at_the_deadline(serve: Serve, kind: FaultKind) -> None:
    server = serve(lambda _: Fault(kind))
    started = time.monotonic()
    error = failure_of(config_for(server), request(timeout_s=0.3))
    assert error.failure is Failure.NO_ANSWER and 0.2 < time.monotonic() - started < 30


def test_bytes_that_drip_in_do_not_move_the_deadline() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            writer.close()

    async def run() -> float:
        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        config = Config()
        config.model.student_base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        model = connect(config, Role.STUDENT, environ={})
        started = time.monotonic()
        with pytest.raises(CallError) as caught:
            await model.complete(request(timeout_s=0.4))
        took = time.monotonic() - started
        assert caught.value.failure is Failure.NO_ANSWER
        await model.aclose()
        server.close()
        return took

    assert 0.3 < asyncio.run(run()) < 3


def test_nobody_listens(serve: Serve) -> None:
    server = serve()
    config = config_for(server)
    server.stop()
    error = failure_of(config)
    assert error.failure is Failure.CONNECTION and str(error).startswith("no connection")
    assert "Timeout" not in str(error)


def test_the_key_is_sent_and_shown_nowhere(serve: Serve) -> None:
    key = "sk-very-secret-0123456789"
    server = serve(lambda _: Fault.http(401, message=f"Incorrect API key provided: {key}"))
    config = config_for(server)

    async def work(model: ChatModel) -> str:
        return repr(model) + str(model.info) + repr(vars(model))

    shown = use(config, work, OPENAI_API_KEY=key)
    error = failure_of(config, OPENAI_API_KEY=key)
    assert server.log.requests[0].auth_kind == "bearer"
    assert key not in str(error) and "[redacted]" in str(error)
    assert error.__context__ is None and error.__cause__ is None
    assert key not in shown


def test_the_right_key_is_let_in(serve: Serve) -> None:
    server = serve(require_auth="the-key")
    config = config_for(server, student_api_key_env="MY_KEY")
    assert ask(config, MY_KEY="the-key")[0].text == "hello"
    assert failure_of(config, MY_KEY="another").failure is Failure.AUTH


def test_many_calls_at_once_use_one_pool(serve: Serve) -> None:
    async def together(_seen: SeenRequest) -> Reply:
        for _ in range(1000):  # nobody is answered before all are there, however slow the machine is
            if server.log.max_in_flight == 64:
                break
            await asyncio.sleep(0.01)
        return Reply("hello")

    server = serve(together)

    async def work(model: ChatModel) -> int:
        return len(await asyncio.gather(*[model.complete(request()) for _ in range(64)]))

    assert use(config_for(server), work) == 64
    assert server.log.max_in_flight == 64


def test_what_is_recorded(serve: Serve) -> None:
    config = Config()
    config.model.student_base_url = "http://127.0.0.1:9/v1?token=x"

    async def work(model: ChatModel) -> Any:
        return model.info, model.supports_prefill

    info, prefill = use(config, work)
    assert (info.backend, info.model, info.endpoint) == ("openai_chat", "gpt-5.5", "http://127.0.0.1:9/v1")
    assert info.settings == {"reasoning_effort": "medium", "temperature": None, "api": "auto"} and not prefill


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
        (400, "Invalid content type. image_url is only supported by certain models."),
        (400, "This model does not support image inputs."),
        (400, "phi-4 is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one prompt."),
        (422, "messages[0]: unknown variant `image_url`, expected `text`"),
    ],
)
def test_a_model_without_eyes_ends_the_run_at_its_first_image(serve: Serve, status: int, said: str) -> None:
    server = serve(lambda _: Fault(FaultKind.STATUS, status=status, message=said))
    image = ChatRequest((Message("user", "look", (Image("image/png", b"x"),)),), 10, 30.0)
    with pytest.raises(ConfigError, match=r"takes no images.*Choose a model that sees"):
        ask(config_for(server), image)
    assert len(server.log.requests) == 1
    # The same words about a request without images are any other refusal.
    assert failure_of(config_for(server)).failure in (Failure.SERVER, Failure.BAD_REQUEST)


def test_a_bad_image_concerns_its_item_alone(serve: Serve) -> None:
    server = serve(lambda _: Fault(FaultKind.STATUS, status=400, message="You uploaded an unsupported image."))
    image = ChatRequest((Message("user", "look", (Image("image/png", b"x"),)),), 10, 30.0)
    assert failure_of(config_for(server), image).item_specific


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_half_characters_are_neither_taken_nor_sent(serve: Serve, api: str) -> None:
    server = serve(lambda _: Reply("so \ud83d\ude00 or \ud83d"))
    (got,) = ask(config_for(server, student_api=api), request("cut \ude00, whole \ud83d\ude00"))
    assert got.text == "so \U0001f600 or \ufffd"
    assert server.log.requests[0].user == "cut \ufffd, whole \U0001f600"
