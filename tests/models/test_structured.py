from __future__ import annotations

from typing import Any

import pytest

from reflact.models.protocol import ChatRequest, Message, ReplySchema
from reflact.models.structured import is_strict, json_schema_format, unfence, with_schema_in_prompt


def _object(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (_object(a={"type": "string"}), True),
        (_object(a={"type": ["string", "null"]}, b={"type": "array", "items": _object(c={"type": "integer"})}), True),
        (_object([], a={"type": "string"}), False),
        ({"type": "object", "properties": {}}, False),
        (_object(a=_object([], b={"type": "string"})), False),
        (_object(a={"type": "array", "items": {"type": "object"}}), False),
        (_object(a={"oneOf": []}), False),
        (_object(a={"anyOf": [{"type": "null"}, {"type": "object"}]}), False),
    ],
)
def test_strict_mode_is_asked_for_where_the_schema_allows_it(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
    assert json_schema_format(ReplySchema("x", schema))["strict"] is strict


def test_without_enforcement_the_schema_stands_in_the_last_message() -> None:
    schema = ReplySchema("x", {"type": "object", "description": "été"})
    request = ChatRequest((Message("system", "s"), Message("user", "u")), 10, 1.0, schema=schema)
    changed = with_schema_in_prompt(request)
    assert changed.schema is None and changed.messages[0] == request.messages[0]
    assert changed.messages[1].content.startswith("u\n\n")
    assert '```json\n{"type": "object", "description": "été"}\n```' in changed.messages[1].content


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('\n```\n{"a": 1}\n```\n', '{"a": 1}'),
        ('{"a": "```"}', '{"a": "```"}'),
        ("```python\nx\n```", "```python\nx\n```"),
        ("``````", "``````"),
    ],
)
def test_a_fence_around_json_is_taken_off(text: str, inner: str) -> None:
    assert unfence(text) == inner
