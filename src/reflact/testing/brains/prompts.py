"""Reading teacher prompts without knowing their wording: schemas, proposed changes, and the skill."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from reflact.core.types import Json

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_BLOCK = re.compile(r"<((?:current_)?skill)\b[^>]*>\n?(.*?)\n?</\1>", re.DOTALL)
_MARKDOWN = re.compile(r"```(?:markdown|md)[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)


def schema_in(text: str) -> Mapping[str, Any] | None:
    """Return the last JSON schema in a text, fenced ones first; None if there is none."""
    fenced = [value for block in _FENCE.findall(text) for value in json_values(block)]
    for values in (fenced, list(json_values(text))):
        schemas: list[Mapping[str, Any]] = [value for value in values if _is_schema(value)]
        if schemas:
            return schemas[-1]
    return None


def json_values(text: str) -> Iterator[Json]:
    """Yield the JSON objects and lists in a text, outermost ones only, in order."""
    decoder = json.JSONDecoder()
    place = 0
    while (found := re.compile(r"[{\[]").search(text, place)) is not None:
        try:
            value, place = decoder.raw_decode(text, found.start())
        except ValueError:
            place = found.end()
        else:
            yield value


def changes_in(text: str) -> list[dict[str, Any]]:
    """Return the edits, suggestions and drafts that a prompt shows as JSON, in order."""
    return [change for value in json_values(text) for change in _changes(value)]


def skill_in(text: str) -> str:
    """Return the skill that a prompt shows in a marked block, `""` if none is marked."""
    block = _BLOCK.search(text)
    if block is not None:
        return block[2].strip()
    fenced = _MARKDOWN.search(text)
    return fenced[1].strip() if fenced else ""


def _is_schema(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("properties"), dict)


def _changes(value: Json) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for entry in value:
            yield from _changes(entry)
    elif isinstance(value, dict) and not _is_schema(value):
        if any(isinstance(value.get(key), str) for key in ("op", "instruction", "skill")):
            yield value
        else:
            for entry in value.values():
                yield from _changes(entry)
