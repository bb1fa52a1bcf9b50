"""What became of each edit, as `edit_apply_report.json` tells it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reflact.core.hashing import canonical
from reflact.core.types import Json
from reflact.optimizer.types import Change

_PREVIEW_CHARS = 200


class EditStatus(StrEnum):
    """The fate of one edit."""

    APPLIED = "applied"
    TARGET_NOT_FOUND = "skipped_target_not_found"
    AMBIGUOUS_TARGET = "skipped_ambiguous_target"
    PROTECTED = "skipped_protected"
    INVALID = "skipped_invalid"
    DUPLICATE = "skipped_duplicate"
    TOO_LONG = "skipped_too_long"


@dataclass(frozen=True, slots=True)
class EditReport:
    """One row of the report; `target` and `content_preview` are cut to a few lines."""

    op: str
    target: str | None
    content_preview: str | None
    source: str
    support_count: int
    support: tuple[str, ...]
    status: EditStatus

    def to_json(self) -> dict[str, Json]:
        """Return the row as a JSON object."""
        return {
            "op": self.op,
            "target": self.target,
            "content_preview": self.content_preview,
            "source": self.source,
            "support_count": self.support_count,
            "support": list(self.support),
            "status": self.status.value,
        }


def report_row(change: Change, status: EditStatus) -> EditReport:
    """Describe a change, however malformed its body is."""
    body = change.body
    return EditReport(
        op=_preview(body.get("op")) or "",
        target=_preview(body.get("target")),
        content_preview=_preview(body.get("content")),
        source=change.source.value,
        support_count=len(change.support),
        support=change.support,
        status=status,
    )


def _preview(value: Json) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= _PREVIEW_CHARS else text[: _PREVIEW_CHARS - 1] + "…"
