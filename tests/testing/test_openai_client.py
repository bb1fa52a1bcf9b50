"""The official client finds what it expects, in every format and under every path."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from openai import AsyncOpenAI, AzureOpenAI, BadRequestError, OpenAI, RateLimitError

from reflact.testing import Fault, Reply, ScriptedServer, SeenRequest, ToolCall, Wire

MESSAGES = [
    {"role": "system", "content": "Be short."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is it?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ],
    },
]
REPLY = Reply("A pie.", prompt_tokens=100, completion_tokens=9, cached_tokens=60, reasoning_tokens=4, pieces=3)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(lambda seen: REPLY) as server:
        yield server


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[OpenAI]:
    with OpenAI(base_url=server.base_url, api_key="a-key", max_retries=0) as client:
        yield client


def test_chat_completion(server: ScriptedServer, client: OpenAI) -> None:
    completion = client.chat.completions.create(model="m", messages=MESSAGES, max_completion_tokens=50)
    assert completion.choices[0].message.content == "A pie."
    assert completion.choices[0].finish_reason == "stop"
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (100, 9)
    assert usage.prompt_tokens_details.cached_tokens == 60
    assert usage.completion_tokens_details.reasoning_tokens == 4
    seen = server.log.requests[0]
    assert (seen.wire, seen.model, seen.images, seen.max_tokens) == (Wire.CHAT, "m", 1, 50)
    assert [(m.role, m.text) for m in seen.messages] == [("system", "Be short."), ("user", "What is it?")]


def test_chat_stream(client: OpenAI) -> None:
    options = {"include_usage": True}
    with client.chat.completions.create(model="m", messages=MESSAGES, stream=True, stream_options=options) as stream:
        chunks = list(stream)
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    assert len(pieces) == 3
    assert "".join(pieces) == "A pie."
    assert chunks[-1].usage.total_tokens == 109


def test_responses(server: ScriptedServer, client: OpenAI) -> None:
    response = client.responses.create(model="m", instructions="Be short.", input="What?", max_output_tokens=50)
    assert response.output_text == "A pie."
    assert response.usage.input_tokens_details.cached_tokens == 60
    seen = server.log.requests[0]
    assert (seen.wire, seen.system, seen.user, seen.max_tokens) == (Wire.RESPONSES, "Be short.", "What?", 50)


def test_responses_stream(client: OpenAI) -> None:
    with client.responses.stream(model="m", input="What?") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.output_text.delta") == 3
    assert final.output_text == "A pie."


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_that_was_cut_is_incomplete(stream: bool) -> None:
    with (
        ScriptedServer(lambda seen: Fault.empty()) as server,
        OpenAI(base_url=server.base_url, api_key="k") as client,
    ):
        response = client.responses.create(model="m", input="What?", max_output_tokens=20, stream=stream)
        if stream:
            response = list(response)[-1].response
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output_text == ""
    assert response.usage.output_tokens_details.reasoning_tokens == 20


def test_azure_with_a_key() -> None:
    with (
        ScriptedServer(require_auth="azure-key") as server,
        AzureOpenAI(azure_endpoint=server.azure_endpoint, api_version="v", api_key="azure-key") as client,
    ):
        assert client.chat.completions.create(model="dep", messages=MESSAGES).choices
        assert client.responses.create(model="dep", input="hello").output_text == "hello"
        chat, responses = server.log.requests
    assert chat.path == "/openai/deployments/dep/chat/completions"
    assert responses.path == "/openai/responses"
    assert chat.query == responses.query == {"api-version": "v"}
    assert (chat.model, chat.auth_kind) == ("dep", "api-key")


def test_azure_v1_path_needs_no_version(server: ScriptedServer) -> None:
    with OpenAI(base_url=f"{server.azure_endpoint}/openai/v1", api_key="k") as client:
        assert client.chat.completions.create(model="dep", messages=MESSAGES).choices[0].message.content == "A pie."


def test_models(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["gpt-5.5"]


def test_structured_output_is_seen(server: ScriptedServer, client: OpenAI) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "thing", "schema": schema, "strict": True}}
    client.chat.completions.create(model="m", messages=MESSAGES, response_format=wanted)
    client.responses.create(
        model="m", input="x", text={"format": {"type": "json_schema", "name": "thing", "schema": schema}}
    )
    assert [(seen.schema_name, seen.schema) for seen in server.log.requests] == [("thing", schema)] * 2


@pytest.mark.parametrize("stream", [False, True])
def test_tool_calls(stream: bool) -> None:
    def responder(seen: SeenRequest) -> Reply:
        done = any(message.role == "tool" for message in seen.messages)
        return Reply("Done.") if done else Reply(tool_calls=(ToolCall("run", {"cmd": "ls"}),))

    tools = [{"type": "function", "name": "run", "parameters": {"type": "object", "properties": {}}}]
    with (
        ScriptedServer(responder) as server,
        OpenAI(base_url=server.base_url, api_key="k") as client,
    ):
        response = client.responses.create(model="m", input="go", tools=tools, stream=stream)
        if stream:
            response = list(response)[-1].response
        call = response.output[0]
        assert (call.type, call.name, call.arguments) == ("function_call", "run", '{"cmd": "ls"}')
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "a.txt"}
        given = [{"role": "user", "content": "go"}, call.model_dump(), output]
        assert client.responses.create(model="m", input=given, tools=tools).output_text == "Done."
        assert server.log.requests[0].tools == ("run",)


def test_errors_are_those_of_the_service() -> None:
    faults = iter([Fault.content_filter(), Fault.reject("max_tokens"), Fault.http(429, retry_after_s=3)])
    with (
        ScriptedServer(lambda seen: next(faults)) as server,
        OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client,
    ):
        with pytest.raises(BadRequestError) as filtered:
            client.chat.completions.create(model="m", messages=MESSAGES)
        with pytest.raises(BadRequestError) as rejected:
            client.chat.completions.create(model="m", messages=MESSAGES, max_tokens=5)
        with pytest.raises(RateLimitError) as limited:
            client.chat.completions.create(model="m", messages=MESSAGES)
    assert filtered.value.code == "content_filter"
    assert (rejected.value.code, rejected.value.param) == ("unsupported_parameter", "max_tokens")
    assert limited.value.response.headers["retry-after"] == "3"


def test_sixty_four_in_flight() -> None:
    everybody = asyncio.Event()

    async def hold(seen: SeenRequest) -> Reply:
        if seen.number == 64:
            everybody.set()
        await everybody.wait()
        return Reply("ok")

    async def ask_all(server: ScriptedServer) -> None:
        async with AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client:
            await asyncio.gather(*(client.chat.completions.create(model="m", messages=MESSAGES) for _ in range(64)))

    with ScriptedServer(hold) as server:
        asyncio.run(ask_all(server))
        assert server.log.max_in_flight == 64
        assert server.log.in_flight == 0
