"""What the data check looks for in ALFWorld."""

from __future__ import annotations

from collections.abc import Iterable

from reflact.benchmarks.alfworld.tasks import TASK_TYPES
from reflact.benchmarks.alfworld.verbs import missing_shapes, unknown_shapes
from reflact.benchmarks.protocol import Finding, Split
from reflact.core.names import Part


def other_commands(shapes: Iterable[frozenset[str]]) -> list[Finding]:
    """Warn of games whose commands are not those that the prompt names: another release of ALFWorld made them."""
    found = list(shapes)
    unknown = sorted({name for known in found for name in unknown_shapes(known)})
    missing = sorted({name for known in found for name in missing_shapes(known)})
    if not unknown and not missing:
        return []
    parts = [f"know {', '.join(map(repr, unknown))}, which the prompt does not name"] if unknown else []
    parts += [f"do not know {', '.join(map(repr, missing))}, which it names"] if missing else []
    message = f"the games {' and '.join(parts)}: another release of ALFWorld made them, so download them again"
    return [Finding("warning", "other_commands", message)]


def absent_types(split: Split) -> list[Finding]:
    """Warn of task types that are tested and neither trained on nor selected on."""
    findings = []
    tested = {item.task_type for item in split.parts[Part.TEST]}
    for part in (Part.TRAIN, Part.VAL):
        absent = [kind for kind in TASK_TYPES if kind in tested - {item.task_type for item in split.parts[part]}]
        if absent:
            message = f"{part.value} has no item of {', '.join(absent)}, which the test part has"
            findings.append(Finding("warning", "absent_task_type", message))
    return findings
