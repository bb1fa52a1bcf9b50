"""From a reply's text to a checked object, or to a sentence that says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from reflact.core.types import Json

_PROBLEM_CHARS = 500
_THOUGHT = "</think>"


class InvalidReply(Exception):
    """A reply that cannot be used; the message tells the teacher why."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def read_reply(text: str, finish_reason: str, schema: Mapping[str, Any]) -> dict[str, Json]:
    """Return the object that a reply holds.

    A reply that was cut off by the token cap is never used, also where what there is of it can be read.

    Raises:
        InvalidReply: With the cause `truncated`, `empty` or `invalid`.
    """
    if finish_reason == "length":
        raise InvalidReply("truncated", "it was cut off at the longest length allowed. Be shorter.")
    if not text.strip():
        raise InvalidReply("empty", "it was empty.")
    value = _json_value(text)
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise InvalidReply("invalid", f"at {error.json_path}: {error.message}"[:_PROBLEM_CHARS])
    result: dict[str, Json] = value
    return result


def _json_value(text: str) -> Json:
    """Read the JSON object of a text, which may stand in a code fence, between sentences, or behind thoughts."""
    thoughts, end, rest = text.partition(_THOUGHT)
    if end and "{" in rest and not thoughts.lstrip().startswith(("{", "```")):
        text = rest  # servers without a parser for a reasoning model leave its thoughts, braces and all, in the reply
    start = text.find("{")
    if start < 0:
        raise InvalidReply("invalid", "it holds no JSON object.")
    try:
        # strict=False lets raw line ends inside strings pass, which models write in long Markdown texts.
        return json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    except (ValueError, RecursionError) as error:
        raise InvalidReply("invalid", f"it is not valid JSON: {error}"[:_PROBLEM_CHARS]) from error
