"""What training did, step by step, as numbers: selection and rollout scores, budget, edits, length of the skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reflact.core.types import Json
from reflact.engine.stats import wilson
from reflact.report.html.reading import Reader, items, mapping, number, whole, words
from reflact.rundir.layout import RunLayout

_INTERVALS = {"hard": "ci95", "soft": "ci95_soft"}


def curve(layout: RunLayout, reader: Reader, records: Sequence[Mapping[str, Any]], metric: str) -> list[Json]:
    """Return a point for the initial skill and one a record, in order."""
    initial = reader.object(layout.baseline("selection").summary)
    first = {
        "label": "initial", "kind": "initial", "action": "", "epoch": 0, "step": 0, **_selection(initial, metric),
        "current": number(initial.get(metric)), "best": number(initial.get(metric)),
        "chars": len(reader.text(layout.skill(0)) or ""), "rollout": None,
    }  # fmt: skip
    begun = bool(initial) or bool(records)
    return [*([first] if begun else []), *(_point(record, metric) for record in records)]


def label(record: Mapping[str, Any]) -> str:
    """Return what a record is called: `step 3`, `epoch 2 slow update`."""
    kind = words(record.get("kind"))
    if kind == "step":
        return f"step {words(record.get('step'))}"
    return f"epoch {words(record.get('epoch'))} {kind.replace('_', ' ')}"


def _point(record: Mapping[str, Any], metric: str) -> Json:
    candidate, edits = mapping(record.get("candidate")), mapping(record.get("edits"))
    selection = mapping(candidate.get("selection"))
    return {
        "label": label(record),
        "kind": words(record.get("kind")),
        "action": words(record.get("action")),
        "epoch": whole(record.get("epoch")),
        "step": whole(record.get("step")),
        **_selection(selection, metric),
        "score": number(candidate.get("score")),
        "current": number(mapping(record.get("current")).get("score")),
        "best": number(mapping(record.get("best")).get("score")),
        "chars": whole(candidate.get("chars")),
        "rollout": _rollout(mapping(record.get("rollout"))),
        "budget": whole(edits.get("budget")),
        "merged": whole(edits.get("merged")),
        "selected": whole(edits.get("selected")),
        "applied": whole(edits.get("applied")),
    }


def _selection(scores: Mapping[str, Any], metric: str) -> dict[str, Json]:
    """Return a score in the gate's metric with its interval; a mixture of both metrics has none."""
    bounds = [number(bound) for bound in items(scores.get(_INTERVALS.get(metric, "")))]
    known = len(bounds) == 2 and None not in bounds
    return {
        "score": number(scores.get(metric)),
        "interval": bounds if known else None,
        "n": whole(scores.get("n")),
        "scored": whole(scores.get("scored")),
    }


def _rollout(part: Mapping[str, Any]) -> Json:
    hard, scored = number(part.get("hard")), whole(part.get("scored"))
    if hard is None or not 0 <= hard <= 1 or not scored or scored < 0:
        return None
    interval = wilson(hard * scored, scored)
    statuses = {words(name): count for name, value in mapping(part.get("statuses")).items() if (count := whole(value))}
    return {
        "hard": hard,
        "interval": interval.to_json() if interval else None,
        "n": whole(part.get("n")),
        "scored": scored,
        "statuses": sorted(statuses.items()),
    }
