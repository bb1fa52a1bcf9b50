"""Whatever a server answers, it is a reply or a failed call: a run is neither ended by it nor told wrong numbers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reflact.models import chat_api, responses_api
from reflact.models.classify import classify, read_problem
from reflact.models.openai_chat import _json
from reflact.models.protocol import CallError, ChatReply, Failure

HOSTILE: list[Any] = [
    None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**30, "", "x", "²", [], [1], [None], [[]], {}, {"a": 1},
]  # fmt: skip
CHAT = {
    "id": "x",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "hi", "refusal": None}}],
    "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1},
    },
}
PROBLEM = {"message": "m", "type": "t", "code": "c", "param": "p", "innererror": {"code": "filtered"}}
RESPONSE = {
    "id": "x",
    "model": "m",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}],
    "usage": {
        "input_tokens": 5,
        "output_tokens": 2,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 1},
    },
}
Parse = Callable[[Any], object]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from paths(part, (*path, key))


def replaced(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    whole = copy.deepcopy(whole)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return whole


@pytest.mark.parametrize(
    ("body", "parse"),
    [
        (CHAT, lambda body: chat_api.parse(body, fenced=True)),
        ({"error": PROBLEM}, lambda body: chat_api.parse(body, fenced=True)),
        (RESPONSE, lambda body: responses_api.parse(body, fenced=True)),
        ({**RESPONSE, "status": "failed", "error": PROBLEM}, lambda body: responses_api.parse(body, fenced=True)),
        ({"error": PROBLEM}, lambda body: classify(read_problem(400, json.dumps(body).encode()))),
        ({"error": PROBLEM}, lambda body: classify(read_problem(429, json.dumps(body).encode()))),
    ],
)
def test_any_value_at_any_place_is_read_or_a_failed_call(body: Any, parse: Parse) -> None:
    for path in paths(body):
        for value in HOSTILE:
            try:
                read = parse(replaced(body, path, value))
            except CallError as error:
                read = error
            if isinstance(read, ChatReply):
                usage = read.usage
                assert isinstance(read.text, str)
                assert 0 <= usage.cached_tokens <= usage.prompt_tokens < 10**10, (path, value)
                assert 0 <= usage.reasoning_tokens <= usage.completion_tokens < 10**10, (path, value)


@pytest.mark.parametrize("value", [0, 5, True, {"a": 1}])
def test_what_is_no_text_in_the_place_of_one_is_no_answer_and_no_lack_of_one(value: Any) -> None:
    chat = replaced(CHAT, ("choices", 0, "message", "content"), value)
    part = replaced(CHAT, ("choices", 0, "message", "content"), [{"type": "text", "text": value}])
    response = replaced(RESPONSE, ("output", 0, "content", 0, "text"), value)
    for parse, body in ((chat_api.parse, chat), (chat_api.parse, part), (responses_api.parse, response)):
        with pytest.raises(CallError, match="for a text") as caught:
            parse(body, fenced=False)
        assert caught.value.failure is Failure.SERVER


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"a":' * 100_000, b"\xff\xfe", b"", b"<html>"])
def test_what_is_no_json_is_a_failure_of_the_server(content: bytes) -> None:
    with pytest.raises(CallError):
        _json(content)
    assert str(classify(read_problem(500, content)))
