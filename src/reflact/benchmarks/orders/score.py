"""Reading a record out of a reply, and comparing it with the right one."""

from __future__ import annotations

from dataclasses import dataclass

TAG = "Answer:"
"""What the record follows in a reply and in a worked example."""


@dataclass(frozen=True, slots=True)
class Score:
    """`hard` is 1 if every field is right, `soft` the share of right fields; `right` of `total` fields match."""

    hard: float
    soft: float
    right: int
    total: int


def extract(reply: str) -> str | None:
    """Return the record's line: the first text after the first tag, or the first text where there is no tag."""
    lines = [line.strip() for line in reply.splitlines()]
    start = next((n for n, line in enumerate(lines) if line.startswith(TAG)), 0)
    texts = (line.removeprefix(TAG).strip() for line in lines[start:])
    return next((text for text in texts if text), None)


def grade(answer: str, gold: str) -> Score:
    """Compare two records field by field, in order; blanks around `|` do not matter, everything else does."""
    given, wanted = _fields(answer), _fields(gold)
    right = sum(a == b for a, b in zip(given, wanted, strict=False))
    # A record with more fields than asked for is not a better one: surplus fields count as wrong.
    total = max(len(given), len(wanted))
    return Score(hard=float(given == wanted), soft=right / total, right=right, total=len(wanted))


def _fields(record: str) -> list[str]:
    return [field.strip() for field in record.split("|")]
