"""What the data check looks for in SearchQA."""

from __future__ import annotations

from collections.abc import Sequence

from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.searchqa.context import cut_context
from reflact.benchmarks.text_scores import normalise
from reflact.core.names import Part

_OUT_OF_SIGHT = 0.2


def blank_golds(split: Split) -> list[Finding]:
    """Warn of items with no gold that keeps a word after normalisation: no real answer can match them."""
    items = [item.id for part in Part for item in split.parts[part] if not any(map(normalise, item.gold))]
    if not items:
        return []
    shown = ", ".join(map(repr, items[:5]))
    message = f"{len(items)} items have only answers that are articles or punctuation: {shown}"
    return [Finding("warning", "blank_gold", message)]


def answers_out_of_sight(split: Split, limit: int) -> list[Finding]:
    """Warn where many items have no gold in the part of their context that the student sees."""
    total = hidden = 0
    for part in Part:
        for item in split.parts[part]:
            total += 1
            hidden += not _in_sight(item.gold, cut_context(item.data["context"], limit))
    if not total or hidden / total <= _OUT_OF_SIGHT:
        return []
    message = (
        f"in {hidden} of {total} items no accepted answer stands in the {limit} characters of context that are "
        "shown; env.max_context_chars sets how many"
    )
    return [Finding("warning", "answer_out_of_sight", message)]


def _in_sight(golds: Sequence[str], shown: str) -> bool:
    # Most answers stand there as they are; only for the others is the whole context normalised, which takes long.
    lowered = shown.lower()
    if any(gold.lower() in lowered for gold in golds):
        return True
    normalised = normalise(shown)
    return any(normalise(gold) in normalised for gold in golds)
