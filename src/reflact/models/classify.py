"""From an HTTP status and an error body to the class of a failure.

Servers agree on statuses, less on bodies: OpenAI and Azure nest an object in `error`, others put a text there, and
servers built on FastAPI say `detail`. `design/what-is-an-error.md` holds the table that this module carries out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from reflact.models.protocol import CallError, Failure

_LONGEST_MESSAGE = 500
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded", "access_terminated"}
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_MISSING_MODEL_CODES = frozenset({"model_not_found", "deploymentnotfound", "invalid_model", "model_not_supported"})
# Services that have no codes say it in their 400s: a bill that is not paid, and what their filter stopped.
_QUOTA_WORDS = re.compile(r"credit balance is too low|reached your specified (\w+ )*usage limits", re.I)
_FILTER_WORDS = re.compile(r"content (filtering|management) policy", re.I)
# Codes and texts of requests that are at fault themselves: the next item may well pass.
_ITEM_CAUSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "context_length",
        re.compile(
            r"context_length_exceeded|string_above_max_length|maximum context length|context window|context size"
            r"|(prompt|input|request).{0,20}too (long|large)|too many tokens",
            re.I,
        ),
    ),
    (
        "bad_image",
        # Not "unsupported image input": a model without eyes fails every item alike.
        re.compile(
            r"image_parse_error|invalid_?image|image_too_(large|small)|unsupported_image_format"
            r"|unsupported image format|an unsupported image\b(?! input)"
            r"|(invalid|corrupt\w*|malformed|not \w+ a valid|not a valid) (\w+ )?image\b(?! input)"
            r"|(failed|unable|could not|cannot) (to )?(load|decode|parse|process|read|open|identify).{0,20}\bimage\b"
            r"|\bimage\b.{0,60}(is invalid|is corrupt|too (large|small)|not valid|could not be|cannot be)",
            re.I,
        ),
    ),
)
_NO_EYES = re.compile(
    r"\b(images?|image_url|vision)( inputs?| content)? (is|are) (not supported|only supported by)"
    r"|(does not|doesn't|do not|cannot) (support|accept|take|process) (any )?(images?|vision)\b(?! format)"
    r"|not a (multi-?modal|vision)|at most 0 image|unknown variant .{0,2}image_url|that support image input"
    r"|required for image input|unsupported image input",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a server said with an error; texts are `""` where it said nothing."""

    status: int
    message: str
    code: str = ""
    kind: str = ""
    param: str = ""
    inner_code: str = ""

    @property
    def text(self) -> str:
        """Everything that was said, for matching."""
        return " ".join((self.code, self.kind, self.param, self.inner_code, self.message))


def read_problem(status: int, content: bytes) -> Problem:
    """Read an error body of whatever form."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace").strip()
        return Problem(status, _cut(text) or f"HTTP status {status} without a body")
    return problem_of(status, body)


def problem_of(status: int, body: Any) -> Problem:
    """Read an error body that is already parsed."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Problem(status, _cut(_text(error)) or f"HTTP status {status}")
    inner = error.get("innererror") or error.get("inner_error")
    return Problem(
        status=status,
        message=_cut(_text(error.get("message") or error.get("detail") or error)),
        code=_text(error.get("code")),
        kind=_text(error.get("type")),
        param=_text(error.get("param")),
        inner_code=_text(inner.get("code")) if isinstance(inner, dict) else "",
    )


def refuses_images(problem: Problem) -> bool:
    """Whether a model says that it takes no images at all, with whatever status: llama.cpp's server says 500."""
    return _item_cause(problem) is None and bool(_NO_EYES.search(problem.text))


def classify(problem: Problem, retry_after_s: float | None = None) -> CallError:
    """Return the error of an attempt that was answered with `problem`."""
    failure, cause = _class_of(problem)
    item_specific = failure is Failure.CONTENT_FILTER or cause is not None
    return CallError(
        failure,
        problem.message,
        status=problem.status,
        retry_after_s=retry_after_s,
        item_specific=item_specific,
        cause=cause,
    )


def _class_of(problem: Problem) -> tuple[Failure, str | None]:
    codes = {problem.code.lower(), problem.kind.lower(), problem.inner_code.lower()}
    status = problem.status
    if status == 402 or (status in (403, 429) and codes & _QUOTA_CODES):
        return Failure.QUOTA, None
    if status == 400 and _QUOTA_WORDS.search(problem.message):
        return Failure.QUOTA, None
    if status == 429:
        return Failure.RATE_LIMIT, None
    if status >= 500 or status in (408, 409):
        return Failure.SERVER, None
    if codes & _FILTER_CODES or (status == 400 and _FILTER_WORDS.search(problem.message)):
        return Failure.CONTENT_FILTER, None
    if status in (401, 403):
        return Failure.AUTH, None
    if status == 404 or codes & _MISSING_MODEL_CODES:
        return Failure.NOT_FOUND, None
    return Failure.BAD_REQUEST, _item_cause(problem)


def _item_cause(problem: Problem) -> str | None:
    if problem.status == 413:
        return "request_too_large"
    return next((cause for cause, pattern in _ITEM_CAUSES if pattern.search(problem.text)), None)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 3] + "..."
