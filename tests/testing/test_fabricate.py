"""Whatever schema is asked for, the value made follows it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.testing.brains import fabricate

EDIT = {
    "type": "object",
    "properties": {
        "op": {"enum": ["append", "delete"]},
        "target": {"type": ["string", "null"]},
        "content": {"anyOf": [{"type": "null"}, {"type": "string"}]},
    },
    "required": ["op", "target", "content"],
    "additionalProperties": False,
}
PROPOSALS: dict[str, Any] = {
    "edits": [{"op": "append", "target": None, "content": f"- {n}", "more": 1} for n in range(3)],
    "reasoning": "because",
    "learning_rate": 99,
    "confidence": "surely",
}

LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 40},
        {"type": "string", "maxLength": 3},
        {"type": "integer", "minimum": 5},
        {"type": "integer", "exclusiveMaximum": -3},
        {"type": "number", "minimum": 0.5, "maximum": 0.7},
        {"type": "boolean"},
        {"type": ["null", "string"]},
        {"type": "null"},
        {"enum": ["low", 3, None]},
        {"const": 7},
        {},
    ]
)


def nest(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["edits", "reasoning", "learning_rate", "confidence", "other", "x"])

    def an_object(properties: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    sizes = st.integers(0, 3)
    return (
        st.dictionaries(names, inner, max_size=4).map(an_object)
        | st.builds(lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, sizes)
        | st.builds(lambda items, most: {"type": "array", "items": items, "maxItems": most}, inner, sizes)
        | st.lists(inner, min_size=1, max_size=3).map(lambda choices: {"anyOf": choices})
    )


@given(st.recursive(LEAVES, nest, max_leaves=8))
def test_every_value_is_valid(schema: dict[str, Any]) -> None:
    jsonschema.validate(fabricate(schema, PROPOSALS), schema)


def test_proposals_are_cut_to_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "patch": {"type": "object", "properties": {"edits": {"type": "array", "items": EDIT, "maxItems": 2}}},
            "learning_rate": {"type": "integer", "minimum": 0, "maximum": 16},
            "confidence": {"enum": ["low", "medium", "high"]},
        },
    }
    made = fabricate(schema, PROPOSALS)
    jsonschema.validate(made, schema)
    assert made["patch"]["edits"] == [{"op": "append", "target": None, "content": f"- {n}"} for n in range(2)]
    assert made["reasoning"] == "because"
    assert made["learning_rate"] == 16


@pytest.mark.parametrize("key", ["$defs", "definitions"])
def test_references_are_followed(key: str) -> None:
    schema = {key: {"edit": EDIT}, "type": "array", "items": {"$ref": f"#/{key}/edit"}, "minItems": 1}
    jsonschema.validate(fabricate(schema, {}), schema)


def test_a_schema_that_holds_itself_ends() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#"}, "name": {"type": "string"}}, "required": ["name"]}
    jsonschema.validate(fabricate(node, {}), node)


def test_all_of_is_joined() -> None:
    parts = [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"required": ["b"]}]
    schema = {"allOf": parts, "properties": {"b": {"type": "boolean"}}}
    jsonschema.validate(fabricate(schema, {}), schema)
