"""Whether a change as a teacher wrote it can be carried out, by update mode."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from reflact.core.types import Json
from reflact.optimizer.edits import read_edit
from reflact.optimizer.types import UpdateMode


class SuggestionType(StrEnum):
    """What a suggestion asks the rewriter to do."""

    ADD_RULE = "add_rule"
    REMOVE_RULE = "remove_rule"
    MERGE_RULES = "merge_rules"
    REORGANIZE = "reorganize"
    COMPRESS = "compress"
    CLARIFY = "clarify"


def is_usable(mode: UpdateMode, body: Mapping[str, Json]) -> bool:
    """Whether a body is a well-formed edit, suggestion or draft."""
    if mode is UpdateMode.PATCH:
        return read_edit(dict(body)) is not None
    if mode is UpdateMode.SUGGESTIONS:
        return body.get("type") in tuple(SuggestionType) and is_text(body.get("instruction"))
    return is_text(body.get("skill"))


def is_text(value: Json) -> bool:
    """Whether a value is a text with something in it."""
    return isinstance(value, str) and bool(value.strip())
