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
    """Return the line of the record: the first tagged line, else the first line with text, without the tag."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    tagged = [line for line in lines if line.startswith(TAG)]
    for line in tagged or lines:
        answer = line.removeprefix(TAG).strip()
        if answer:
            return answer
    return None


def grade(answer: str, gold: str) -> Score:
    """Compare two records field by field, in order; blanks around `|` do not matter, everything else does."""
    given, wanted = _fields(answer), _fields(gold)
    right = sum(a == b for a, b in zip(given, wanted, strict=False))
    # A record with more fields than asked for is not a better one: surplus fields count as wrong.
    total = max(len(given), len(wanted))
    return Score(hard=float(given == wanted), soft=right / total, right=right, total=len(wanted))


def _fields(record: str) -> list[str]:
    return [field.strip() for field in record.split("|")]
