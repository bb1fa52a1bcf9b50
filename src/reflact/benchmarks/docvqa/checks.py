"""What the data check looks for in DocVQA, beside the images."""

from __future__ import annotations

from reflact.benchmarks.docvqa.anls import normalise
from reflact.benchmarks.protocol import Finding, Split
from reflact.core.names import Part

_SHOWN = 5


def empty_golds(split: Split) -> list[Finding]:
    """Refuse items without an accepted answer: no reply to them can be right."""
    items = [item.id for part in Part for item in split.parts[part] if not item.gold]
    if not items:
        return []
    shown = ", ".join(map(repr, items[:_SHOWN])) + (" ..." if len(items) > _SHOWN else "")
    return [Finding("error", "empty_gold", f"{len(items)} items have no accepted answer: {shown}")]


def repeated_questions(split: Split) -> list[Finding]:
    """Warn of the same question about the same image in different parts, under different ids."""
    first: dict[tuple[str, str], tuple[Part, str]] = {}
    pairs: list[str] = []
    for part in Part:
        for item in split.parts[part]:
            image = item.data["image_sha256"]
            owner, name = first.setdefault((normalise(item.question), image), (part, item.id))
            if image and owner is not part:
                pairs.append(f"{owner.value} {name!r} = {part.value} {item.id!r}")
    if not pairs:
        return []
    message = f"{len(pairs)} questions are asked about the same image in another part: {'; '.join(pairs[:3])}"
    return [Finding("warning", "repeated_items", message)]
