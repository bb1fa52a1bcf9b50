"""Reading teacher prompts without knowing their wording: schemas, proposed changes, and the skill."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from reflact.core.types import Json

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_BRACE = re.compile(r"[{\[]")
# `<skill> ... </skill>`, or `<any-tag name="skill"> ... </any-tag>` where the tag tells data apart from text.
_BLOCK = re.compile(r"<(?P<tag>[\w-]+)(?: name=\"(?P<name>[^\"]*)\")?>\n?(?P<text>.*?)\n?</(?P=tag)>", re.DOTALL)
_SKILL_NAMES = ("skill", "current_skill", "current skill")
# What a list of proposed changes says of each, and a record of former ones does not.
_OF_PROPOSALS = ("number", "support_count")


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
    while (found := _BRACE.search(text, place)) is not None:
        try:
            value, place = decoder.raw_decode(text, found.start())
        except ValueError:
            place = found.end()
        else:
            yield value


def changes_in(text: str) -> list[dict[str, Any]]:
    """Return the edits and suggestions that a prompt proposes as JSON, in order.

    A prompt may also show changes that were tried before; if some changes have a number or a count of support, only
    those are proposed.
    """
    changes = [change for value in json_values(text) for change in _changes(value)]
    proposed = [change for change in changes if any(key in change for key in _OF_PROPOSALS)]
    return proposed or changes


def drafts_in(text: str) -> int:
    """Return how many drafts a prompt shows in blocks named `draft`, `draft 0`, and so on."""
    return sum(name.startswith("draft") for name, _ in blocks_in(text))


def skill_in(text: str) -> str:
    """Return the skill that a prompt shows in a block of its own, `""` if there is none."""
    return next((block for name, block in blocks_in(text) if name in _SKILL_NAMES), "").strip()


def blocks_in(text: str) -> list[tuple[str, str]]:
    """Return names and texts of a prompt's outermost marked blocks, in order."""
    return [(found["name"] or found["tag"], found["text"]) for found in _BLOCK.finditer(text)]


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
