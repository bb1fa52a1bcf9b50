"""From verdicts to scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflact.benchmarks.spreadsheetbench.inside.compare import NOT_EVALUABLE
from reflact.benchmarks.spreadsheetbench.workshop import Verdict
from reflact.core.names import RowStatus
from reflact.core.types import Json, Outcome, Turn


def outcome_of(
    verdicts: Sequence[Verdict],
    *,
    script: str | None,
    turns: Sequence[Turn],
    n_turns: int,
    no_action: int = 0,
    truncated: bool = False,
    marks: Mapping[str, Json],
) -> Outcome:
    """Return the outcome: `soft` is the share of passed cases, `hard` whether all passed.

    Cases whose reference cannot be evaluated say nothing about the script and are left out; an item with no other
    scores 0, and its row says so.

    Args:
        verdicts: One for each case; empty if there was no script.
        script: The script that was judged.
        turns: What was said.
        n_turns: Replies of the student.
        no_action: Replies without a script, in a conversation of several turns.
        truncated: The reply was cut, but its script is whole.
        marks: What every row of the run says.
    """
    counted = [verdict for verdict in verdicts if verdict.counts]
    passed = sum(verdict.passed for verdict in counted)
    soft = passed / len(counted) if counted else 0.0
    hard = 1.0 if counted and passed == len(counted) else 0.0
    extra: dict[str, Json] = {
        **marks,
        "cases": len(verdicts),
        "passed": passed,
        NOT_EVALUABLE: len(verdicts) - len(counted),
        "verdicts": [verdict.state for verdict in verdicts],
    }
    recalculated = [list(verdict.recalculated) for verdict in verdicts]
    if any(recalculated):
        extra["recalculated"] = recalculated
    failures = list(dict.fromkeys(verdict.not_recalculated for verdict in verdicts if verdict.not_recalculated))
    if failures:
        extra["not_recalculated"] = failures
    return Outcome(
        status=RowStatus.OK,
        hard=hard,
        soft=soft,
        predicted_answer=script,
        fail_reason=None if hard == 1.0 else _reason(verdicts, script),
        n_turns=n_turns,
        truncated=truncated,
        no_action=no_action,
        conversation=tuple(turns),
        extra=extra,
    )


def _reason(verdicts: Sequence[Verdict], script: str | None) -> str:
    if script is None:
        return "No reply held a Python script."
    cases: dict[str, list[int]] = {}
    for number, verdict in enumerate(verdicts, start=1):
        if not verdict.passed:
            cases.setdefault(verdict.reason, []).append(number)
    said = [f"{_named(numbers)}: {reason}" for reason, numbers in cases.items()]
    return "\n".join(said) or "Nothing could be compared."


def _named(numbers: Sequence[int]) -> str:
    return f"Case{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
