"""Structured output: which schemas a provider can enforce, and what to do where it cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reflact.models.protocol import ChatRequest, ReplySchema

# Keywords of the strict mode of structured outputs; with any other one, the schema is sent without `strict`.
_STRICT_KEYWORDS = frozenset(
    (
        *("type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const", "$defs", "$ref"),
        *("title", "description", "default", "format", "pattern", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    )
)


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether the schema keeps the rules of strict mode: closed objects, all of whose properties are required."""
    if not _STRICT_KEYWORDS.issuperset(schema):
        return False
    properties: Mapping[str, Any] = schema.get("properties", {})
    is_object = "properties" in schema or schema.get("type") == "object"
    if is_object and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties)
    ):
        return False
    inner = [*properties.values(), *schema.get("anyOf", ()), *schema.get("$defs", {}).values()]
    if isinstance(schema.get("items"), Mapping):
        inner.append(schema["items"])
    return all(is_strict(part) for part in inner if isinstance(part, Mapping))


def json_schema_format(schema: ReplySchema) -> dict[str, Any]:
    """Return the object that names a schema to a provider."""
    return {"name": schema.name, "schema": schema.schema, "strict": is_strict(schema.schema)}


def with_schema_in_prompt(request: ChatRequest) -> ChatRequest:
    """Say the schema in the last message, for servers that cannot enforce one."""
    if request.schema is None:
        return request
    text = json.dumps(request.schema.schema, ensure_ascii=False)
    demand = f"Reply with one JSON value and nothing around it. It must follow this JSON schema:\n```json\n{text}\n```"
    *before, last = request.messages
    messages = (*before, replace(last, content=f"{last.content}\n\n{demand}"))
    return replace(request, messages=messages, schema=None)


def unfence(text: str) -> str:
    """Take the JSON value out of the code fence that models like to put around it."""
    stripped = text.strip()
    if not (stripped.startswith("```") and stripped.endswith("```") and len(stripped) > 6):
        return text
    first, _, rest = stripped[3:-3].partition("\n")
    return rest.strip() if first.strip().lower() in ("", "json") else text
