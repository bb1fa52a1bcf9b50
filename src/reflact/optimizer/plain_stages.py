"""Stages that need no judgement, for teachers that are not language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reflact.core.hashing import canonical
from reflact.core.types import Json
from reflact.optimizer.places import append_text
from reflact.optimizer.types import Change, Merge, MergedChange, Op, Patch, UpdateMode


def change_body(mode: UpdateMode, skill: str, content: str, why: str) -> dict[str, Json]:
    """Return the change that adds a text to a skill, in the words of an update mode."""
    if mode is UpdateMode.PATCH:
        return {"op": Op.APPEND.value, "target": None, "content": content}
    if mode is UpdateMode.SUGGESTIONS:
        return {"type": "add_rule", "title": first_line(content), "motivation": why, "instruction": content}
    return {"skill": with_text(skill, content)}


def change_bodies(mode: UpdateMode, skill: str, contents: list[str], why: str) -> tuple[dict[str, Json], ...]:
    """Return the changes that add several texts; drafts are whole, so there they become one."""
    if mode is UpdateMode.FULL_REWRITE and contents:
        return ({"skill": with_texts(skill, contents)},)
    return tuple(change_body(mode, skill, content, why) for content in contents)


def first_line(text: str, most: int = 60) -> str:
    """Return a title for a text."""
    line = text.strip().split("\n", 1)[0].lstrip("- ")
    return line if len(line) <= most else line[: most - 1] + "…"


def with_text(skill: str, content: str) -> str:
    """Return the skill with a text at its end, unless it holds it already."""
    return skill if content.strip() in skill else append_text(skill, content, len(skill))


def with_texts(skill: str, contents: Iterable[str]) -> str:
    """Return the skill with several texts at its end."""
    for content in contents:
        skill = with_text(skill, content)
    return skill


def fenced(skill: str) -> str:
    """Return a skill as the reply that a search expects."""
    return f"```\n{skill}\n```"


def merged(patches: tuple[Patch, ...], mode: UpdateMode) -> Merge:
    """Concatenate patches; equal changes become one that names all its sources, drafts become one draft."""
    changes = [change for patch in patches for change in patch.changes]
    if mode is UpdateMode.FULL_REWRITE:
        draft = joined_drafts([str(change.body.get("skill", "")) for change in changes])
        return Merge("Joined the drafts.", (MergedChange({"skill": draft}, tuple(range(len(changes)))),))
    found: dict[str, tuple[Mapping[str, Json], list[int]]] = {}
    for index, change in enumerate(changes):
        found.setdefault(canonical(dict(change.body)), (change.body, []))[1].append(index)
    return Merge(
        "Joined the changes; equal ones are one.",
        tuple(MergedChange(body, tuple(sources)) for body, sources in found.values()),
    )


def joined_drafts(drafts: list[str]) -> str:
    """Return the first draft with the paragraphs of the others that it lacks."""
    if not drafts:
        return ""
    whole = drafts[0]
    for draft in drafts[1:]:
        for paragraph in draft.split("\n\n"):
            if paragraph.strip():
                whole = with_text(whole, paragraph)
    return whole


def carried_out(skill: str, changes: Iterable[Change]) -> str:
    """Return the skill with the instructions of suggestions at its end."""
    for change in changes:
        skill = with_text(skill, str(change.body.get("instruction", "")))
    return skill
