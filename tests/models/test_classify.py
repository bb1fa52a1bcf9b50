from __future__ import annotations

import json
from typing import Any

import pytest

from reflact.core.names import Role
from reflact.models.classify import classify, read_problem
from reflact.models.protocol import CallError, Failure, ModelInfo
from reflact.models.retry_after import retry_after_s
from reflact.models.unavailable import unavailable

F = Failure


def _classified(status: int, body: Any) -> CallError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return classify(read_problem(status, content))


def _openai(message: str = "no", code: str | None = None, kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "code": code, "type": kind, "param": None}}


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (401, _openai(), F.AUTH),
        (403, _openai(), F.AUTH),
        (404, _openai(code="DeploymentNotFound"), F.NOT_FOUND),
        (400, _openai(code="model_not_found"), F.NOT_FOUND),
        (402, _openai(), F.QUOTA),
        (429, _openai(code="insufficient_quota"), F.QUOTA),
        (429, _openai(kind="insufficient_quota"), F.QUOTA),
        (429, _openai("exceeded token rate limit of your tier", code="429"), F.RATE_LIMIT),
        (408, _openai(), F.SERVER),
        (409, _openai(), F.SERVER),
        (500, b"<html>oops</html>", F.SERVER),
        (529, _openai(), F.SERVER),
        (400, _openai(), F.BAD_REQUEST),
        (
            400,
            _openai("Your credit balance is too low to access the Anthropic API.", kind="invalid_request_error"),
            F.QUOTA,
        ),
        (400, _openai("You have reached your specified API usage limits.", kind="invalid_request_error"), F.QUOTA),
        (422, {"detail": [{"msg": "field required"}]}, F.BAD_REQUEST),
        (400, _openai("This model does not support image inputs."), F.BAD_REQUEST),
        (400, _openai("Invalid content type. image_url is only supported by certain models."), F.BAD_REQUEST),
    ],
)
def test_status_and_code_give_the_class(status: int, body: Any, failure: Failure) -> None:
    error = _classified(status, body)
    assert (error.failure, error.status, error.item_specific) == (failure, status, False)


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (400, _openai(code="content_filter"), "content_filter"),
        (
            400,
            {"error": {"message": "no", "innererror": {"code": "ResponsibleAIPolicyViolation"}, "code": None}},
            "content_filter",
        ),
        (400, _openai("Output blocked by content filtering policy", kind="invalid_request_error"), "content_filter"),
        (400, _openai(code="context_length_exceeded"), "context_length"),
        (400, _openai("This model's maximum context length is 8192 tokens."), "context_length"),
        (400, {"object": "error", "message": "the request exceeds the available context size"}, "context_length"),
        (400, _openai("The image data you provided does not represent a valid image"), "bad_image"),
        (400, _openai("You uploaded an unsupported image.", code="invalid_image_format"), "bad_image"),
        (400, _openai("Failed to load image: bad header"), "bad_image"),
        (413, b"", "request_too_large"),
    ],
)
def test_what_concerns_one_item_is_told_apart(status: int, body: Any, cause: str) -> None:
    error = _classified(status, body)
    assert error.item_specific and error.cause == cause and not error.failure.fatal and not error.failure.retryable


@pytest.mark.parametrize(
    ("backend", "variable"), [("claude_code_exec", "ANTHROPIC_API_KEY"), ("codex_exec", "OPENAI_API_KEY")]
)
def test_a_refused_key_is_looked_for_where_the_backend_has_it(backend: str, variable: str) -> None:
    error = unavailable(Role.STUDENT, ModelInfo(backend, "m", "http://s"), _classified(401, _openai()))
    assert f"the variable {variable}, on Azure AZURE_OPENAI_API_KEY" in str(error)


def test_messages_are_bounded_and_never_empty() -> None:
    assert len(str(_classified(500, b"x" * 10_000))) == 500
    assert str(_classified(503, b"")) == "HTTP status 503 without a body"
    assert str(_classified(500, {"error": "plain text"})) == "plain text"
    assert str(_classified(500, [1, 2])) == "[1, 2]"


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds
