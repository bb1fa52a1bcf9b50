"""JSON values made from a schema: what is proposed where it fits, something valid elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from reflact.core.types import Json


class _Missing(Enum):
    MISSING = "missing"


_MISSING = _Missing.MISSING
_MAX_DEPTH = 12
_UNBOUNDED = 1 << 62


def fabricate(schema: Mapping[str, Any], proposals: Mapping[str, Json]) -> Json:
    """Return a value that follows a schema.

    Args:
        schema: A JSON schema, with local `$ref`s at most.
        proposals: Values by property name, used wherever a property of that name takes them. Objects may hold
            more keys than the schema knows, and lists may be too long: what does not fit is left out.
    """
    return _Fabricator(schema, proposals).make(schema, "", _MISSING, 0)


@dataclass(frozen=True, slots=True)
class _Fabricator:
    root: Mapping[str, Any]
    proposals: Mapping[str, Json]

    def make(self, schema: Mapping[str, Any], name: str, value: Json, depth: int) -> Json:
        """Return `value` made to fit, or something that fits."""
        if value is _MISSING:
            value = self.proposals.get(name, _MISSING)
        schema = self._resolve(schema, value)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return value if value in schema["enum"] else schema["enum"][0]
        match _kind(schema, value):
            case "object":
                return self._object(schema, value, depth)
            case "array":
                return self._array(schema, name, value, depth)
            case "string":
                return _text(schema, name, value)
            case "integer" | "number" as kind:
                return _number(schema, value, kind)
            case "boolean":
                return value if isinstance(value, bool) else True
            case _:
                return None

    def _object(self, schema: Mapping[str, Any], value: Json, depth: int) -> dict[str, Json]:
        given = value if isinstance(value, dict) else {}
        properties: Mapping[str, Any] = schema.get("properties", {})
        # A recursive schema would go on for ever: deep down only what is required is made.
        names = list(properties) if depth < _MAX_DEPTH else schema.get("required", ())
        return {name: self.make(properties.get(name, {}), name, given.get(name, _MISSING), depth + 1) for name in names}

    def _array(self, schema: Mapping[str, Any], name: str, value: Json, depth: int) -> list[Json]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", _UNBOUNDED)
        inner: Mapping[str, Any] = schema.get("items", {})
        given = list(value) if isinstance(value, (list, tuple)) else []
        if value is _MISSING and depth < _MAX_DEPTH:
            given = [_MISSING]
        given += [_MISSING] * (least - len(given))
        return [self.make(inner, f"{name}[]", entry, depth + 1) for entry in given[:most]]

    def _resolve(self, schema: Mapping[str, Any], value: Json) -> Mapping[str, Any]:
        """Follow references, join `allOf`, and choose among alternatives the one that takes the value."""
        while True:
            if "$ref" in schema:
                target: Any = self.root
                for part in schema["$ref"].removeprefix("#").strip("/").split("/"):
                    target = target[part] if part else target
                schema = target
            elif "allOf" in schema:
                parts = [self._resolve(part, value) for part in schema["allOf"]]
                schema = _joined([{key: schema[key] for key in schema if key != "allOf"}, *parts])
            elif schema.get("anyOf") or schema.get("oneOf"):
                choices = [self._resolve(choice, value) for choice in schema.get("anyOf") or schema["oneOf"]]
                fitting = [choice for choice in choices if value is not _MISSING and _takes(choice, value)]
                filled = [choice for choice in choices if choice.get("type") != "null"]
                schema = (fitting or filled or choices)[0]
            else:
                return schema


def _joined(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for part in parts:
        properties = {**joined.get("properties", {}), **part.get("properties", {})}
        required = [*joined.get("required", ()), *part.get("required", ())]
        joined = {**joined, **part}
        if properties:
            joined |= {"properties": properties, "required": required}
    return joined


def _kind(schema: Mapping[str, Any], value: Json) -> str:
    """Return the type to make: the one that the value has if it is allowed, else the first that is not null."""
    kinds = schema.get("type", "object" if "properties" in schema else ["string", "null"])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    own = [kind for kind in kinds if value is not _MISSING and _is(kind, value)]
    return str((own or [kind for kind in kinds if kind != "null"] or kinds)[0])


def _takes(schema: Mapping[str, Any], value: Json) -> bool:
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", (schema.get("const"),))
    return _is(_kind(schema, value), value)


def _is(kind: str, value: Json) -> bool:
    types: Mapping[str, type | tuple[type, ...]] = {
        "object": dict,
        "array": (list, tuple),
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "null": type(None),
    }
    wants_bool = kind == "boolean"
    return isinstance(value, types[kind]) and isinstance(value, bool) == wants_bool


def _text(schema: Mapping[str, Any], name: str, value: Json) -> str:
    # A null for a text that may not be null means "none", not "something".
    text = "" if value is None else value if isinstance(value, str) else f"A text for {name.rstrip('[]') or 'this'}."
    return str(text)[: schema.get("maxLength", _UNBOUNDED)].ljust(schema.get("minLength", 0), ".")


def _number(schema: Mapping[str, Any], value: Json, kind: str) -> int | float:
    number = value if _is(kind, value) else 1
    low = schema.get("minimum", schema.get("exclusiveMinimum", -_UNBOUNDED - 1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", _UNBOUNDED + 1) - 1)
    bounded = min(max(number, low), high)
    return int(bounded) if kind == "integer" else bounded
