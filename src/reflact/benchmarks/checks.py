"""What every benchmark's data check looks for."""

from __future__ import annotations

from reflact.benchmarks.protocol import Finding, Split
from reflact.core.hashing import digest
from reflact.core.names import Part


def repeated_items(split: Split) -> list[Finding]:
    """Warn of items with different ids and the same content in different parts."""
    first: dict[str, tuple[Part, str]] = {}
    pairs: list[tuple[str, str]] = []
    for part in Part:
        for item in split.parts[part]:
            content = digest([item.question, list(item.gold), dict(item.data)])
            owner, name = first.setdefault(content, (part, item.id))
            if owner is not part:
                pairs.append((f"{owner.value} {name!r}", f"{part.value} {item.id!r}"))
    if not pairs:
        return []
    shown = "; ".join(f"{left} = {right}" for left, right in pairs[:3])
    message = f"{len(pairs)} items have the content of an item in another part under another id: {shown}"
    return [Finding("warning", "repeated_items", message)]
