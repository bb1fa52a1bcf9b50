"""JSON schemas of the teacher's replies.

Objects are closed and every property is required, as the strict modes of providers want it; what may be absent
is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflact.optimizer.bodies import SuggestionType
from reflact.optimizer.types import Op, Source, UpdateMode

Schema = dict[str, Any]

# Checked by us, not sent: providers and grammars differ in what they make of them.
_OURS_ALONE = frozenset({"minimum", "pattern"})

_TEXT: Schema = {"type": "string"}
_FILLED: Schema = {"type": "string", "pattern": r"\S"}
_INDEX: Schema = {"type": "integer"}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_of(names: list[str]) -> Schema:
    return {"type": "string", "enum": names}


def portable(schema: Mapping[str, Any]) -> Schema:
    """Return a schema as it is sent: without the keywords that only our own check uses."""
    return {
        name: {key: portable(value) for key, value in part.items()}
        if name == "properties"
        else (portable(part) if isinstance(part, Mapping) else part)
        for name, part in schema.items()
        if name not in _OURS_ALONE
    }


def changes_name(mode: UpdateMode) -> str:
    """Return what a list of changes is called in replies."""
    return "edits" if mode is UpdateMode.PATCH else "suggestions"


def analysis(mode: UpdateMode, source: Source) -> Schema:
    """An analyst's reply."""
    if mode is UpdateMode.FULL_REWRITE:
        return _object(lessons=_array(_TEXT), skill=_FILLED)
    patch = _patch(mode)
    if source is Source.FAILURE:
        kind = _object(failure_type=_TEXT, count={"type": "integer"}, description=_TEXT)
        return _object(failure_summary=_array(kind), patch=patch)
    return _object(success_patterns=_array(_TEXT), patch=patch)


def merge(mode: UpdateMode) -> Schema:
    """A merge reply; `sources` are numbers of input changes."""
    sources = _array(_INDEX)
    if mode is UpdateMode.FULL_REWRITE:
        return _object(reasoning=_TEXT, skill=_FILLED, sources=sources)
    merged = _object(**_change(mode), sources=sources)
    return _object(reasoning=_TEXT, **{changes_name(mode): _array(merged)})


def ranking() -> Schema:
    """A ranking."""
    return _object(reasoning=_TEXT, indices=_array(_INDEX))


def learning_rate() -> Schema:
    """An autonomous learning rate."""
    return _object(
        learning_rate={"type": "integer", "minimum": 0},
        reasoning=_TEXT,
        confidence=_one_of(["low", "medium", "high"]),
        risk_notes=_TEXT,
    )


def rewrite() -> Schema:
    """A rewritten skill."""
    return _object(skill=_FILLED, change_summary=_TEXT)


def one_shot() -> Schema:
    """A skill written at once."""
    return _object(reasoning=_TEXT, skill=_FILLED)


def slow_update() -> Schema:
    """Guidance for the protected block."""
    return _object(reasoning=_TEXT, slow_update_content=_FILLED)


def meta_skill() -> Schema:
    """The teacher's memory."""
    return _object(reasoning=_TEXT, meta_skill_content=_FILLED)


def meta_reflect() -> Schema:
    """A look back on an epoch."""
    return _object(meta_summary=_TEXT, patch=_patch(UpdateMode.PATCH))


def diagnosis() -> Schema:
    """A diagnostic instruction."""
    return _object(reasoning=_TEXT, instruction=_FILLED)


def _patch(mode: UpdateMode) -> Schema:
    return _object(reasoning=_TEXT, **{changes_name(mode): _array(_object(**_change(mode)))})


def _change(mode: UpdateMode) -> dict[str, Schema]:
    if mode is UpdateMode.PATCH:
        optional: Schema = {"type": ["string", "null"]}
        return {"op": _one_of([op.value for op in Op]), "target": optional, "content": optional}
    kinds = _one_of([kind.value for kind in SuggestionType])
    return {"type": kinds, "title": _TEXT, "motivation": _TEXT, "instruction": _FILLED}
