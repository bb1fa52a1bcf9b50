"""The comparison of two runs, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reflact.config.identity import Difference
from reflact.config.keys import show
from reflact.report.diff import style_of
from reflact.report.run_diff import Flips, RunDiff, Side
from reflact.report.tables.paired import Change
from reflact.report.text import clean, clean_line, plural, score, shorten

SHOWN_IDS = 20
"""Ids of a direction that are shown if not all are asked for."""
SHOWN_LINES = 60
_WIDE = 240
Line = tuple[str, str]
"""A line and its style."""


def to_json(diff: RunDiff) -> dict[str, Any]:
    """Return the comparison as JSON; nothing is shortened."""
    return {
        "schema_version": 1,
        "a": _side_json(diff.sides[0]),
        "b": _side_json(diff.sides[1]),
        "config": _differences_json(diff.keys),
        "config_without_effect": _differences_json(diff.free_keys),
        "made_with": _differences_json(diff.made_with),
        "skill": {"same": _same_skill(diff), "diff": diff.skill},
        "items": {part: _flips_json(flips) for part, flips in diff.items.items()},
    }


def _side_json(side: Side) -> dict[str, Any]:
    names = ("benchmark", "harness", "student", "teacher")
    return {
        "path": str(side.root),
        "run_id": side.run_id,
        "state": side.state.value,
        **{name: side.record.text(name) for name in names},
        "simulated": side.record.flag("simulated"),
        "skill": side.origin,
    }


def _differences_json(entries: Sequence[Difference]) -> list[dict[str, Any]]:
    return [{"key": name, "a": old, "b": new} for name, old, new in entries]


def _flips_json(flips: Flips) -> dict[str, Any]:
    if flips.missing or flips.change is None:
        return {"missing": flips.missing}
    return {
        "n": flips.change.n,
        "means": None if flips.means is None else list(flips.means),
        "difference": flips.change.value,
        "ci95": None if flips.change.interval is None else flips.change.interval.to_json(),
        "mcnemar_p": flips.change.p,
        "wrong_to_right": [{"id": item, "a": before, "b": after} for item, before, after in flips.gained],
        "right_to_wrong": [{"id": item, "a": before, "b": after} for item, before, after in flips.lost],
        "only_a": flips.only[0],
        "only_b": flips.only[1],
        "other_content": flips.other_content,
    }


def _same_skill(diff: RunDiff) -> bool | None:
    a, b = diff.sides
    if a.skill is not None and b.skill is not None:
        return a.skill == b.skill
    return a.skill_hash == b.skill_hash if a.skill_hash and b.skill_hash else None


def lines(diff: RunDiff, *, everything: bool = False) -> Iterator[Line]:
    """Yield the lines to show.

    Args:
        diff: The comparison.
        everything: Show all ids and the whole diff of the skills.
    """
    for name, side in zip("AB", diff.sides, strict=True):
        yield f"{name}  {clean(side.root)}: {_what(side)}", "bold"
    yield from _table("configuration", diff.keys, "the configurations are the same in every key that counts")
    yield from _table("made with", diff.made_with, "")
    yield from _table("no effect on what is computed", diff.free_keys, "")
    yield from _skills(diff, everything)
    for part, flips in diff.items.items():
        yield from _part(part, flips, everything)


def _what(side: Side) -> str:
    names = [side.record.text(name) for name in ("benchmark", "harness", "student")]
    marked = " SIMULATED" if side.record.flag("simulated") else ""
    return f"{' · '.join(clean(name, 40) for name in names if name)}{marked}, {side.state.value}, skill: {side.origin}"


def _table(title: str, entries: Sequence[Difference], otherwise: str) -> Iterator[Line]:
    if not entries and not otherwise:
        return
    yield "", ""
    yield title, "bold"
    if not entries:
        yield f"  {otherwise}", ""
    width = max((len(name) for name, _, _ in entries), default=0)
    for name, old, new in entries:
        yield f"  {clean(name):<{width}}  {_value(old)} > {_value(new)}", ""


def _value(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"sha256"}:
        value = value["sha256"]
    text = clean(show(value))
    is_hash = len(text) == 64 and all(letter in "0123456789abcdef" for letter in text)
    return text[:12] if is_hash else shorten(text, 100)


def _skills(diff: RunDiff, everything: bool) -> Iterator[Line]:
    yield "", ""
    yield "best skills", "bold"
    same = _same_skill(diff)
    if same:
        yield "  the same", ""
        return
    if not diff.skill:
        known = "different" if same is False else "not comparable"
        yield f"  {known}; an evaluation keeps only the hash of its skill", ""
        return
    shown = diff.skill if everything else diff.skill[:SHOWN_LINES]
    for line in shown:
        yield f"  {shorten(clean_line(line), _WIDE)}", style_of(line)
    if len(shown) < len(diff.skill):
        yield f"  {plural(len(diff.skill) - len(shown), 'line')} more with --all", "dim"


def _part(part: str, flips: Flips, everything: bool) -> Iterator[Line]:
    yield "", ""
    yield f"items of {part}", "bold"
    if flips.missing or flips.change is None or flips.means is None:
        yield f"  {clean(flips.missing)}", ""
        return
    yield f"  {score(flips.means[0])} > {score(flips.means[1])} on {plural(flips.change.n or 0, 'shared item')}", ""
    yield f"  {_tested(flips.change)}", ""
    yield from _ids("wrong > right", "green", flips.gained, everything)
    yield from _ids("right > wrong", "red", flips.lost, everything)
    if any(flips.only):
        yield f"  scored by one only: {flips.only[0]} in A, {flips.only[1]} in B", ""
    if flips.other_content:
        yield f"  {plural(flips.other_content, 'item')} of one id but with other content: no pairs", "yellow"


def _tested(found: Change) -> str:
    text = f"difference {found.value:+.3f}"
    if found.interval is not None:
        text += f" [{found.interval.low:+.3f}, {found.interval.high:+.3f}] (paired 95%)"
    noise = " · noise: the interval holds zero" if found.noise else ""
    return text + (f" · McNemar p = {found.p:.2g}" if found.p is not None else "") + noise


def _ids(title: str, style: str, entries: Sequence[tuple[str, float, float]], everything: bool) -> Iterator[Line]:
    shown = entries if everything else entries[:SHOWN_IDS]
    names = ", ".join(clean(item, 80) for item, _, _ in shown)
    more = f", {len(entries) - len(shown)} more with --all" if len(shown) < len(entries) else ""
    yield f"  {title}  {len(entries)}{': ' if entries else ''}{names}{more}", style
