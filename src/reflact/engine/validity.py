"""Is a complete run fit for a table? What this run alone can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reflact.config.schema import Config
from reflact.engine.tally import Tally

_MARKS = {
    "unsandboxed": "model-written code ran unconfined (env.sandbox)",
    "gold_feedback": "the student was told its score while it worked (env.gold_feedback)",
    "not_evaluable": "their references hold formulas without saved values",
}


def judge_validity(
    config: Config, tally: Tally, versions: Sequence[str] = (), history: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return `{valid, reasons}`; each reason begins with its name and says what to change, where there is a key.

    Args:
        config: Limits, and reasons that are declared harmless (`validity.ignore`).
        tally: Counts over all rows.
        versions: Code versions that worked on the run, the first one first.
        history: Records of steps.
    """
    limits = config.validity
    reasons: list[str] = []
    for phase, counts in tally.rows.items():
        n = sum(counts.values())
        if n == 0:
            continue
        if counts["error"]:
            reasons.append(f"error: {counts['error']} of {n} {phase} rows have no score")
        for status, limit in (
            ("empty", limits.max_empty_rate),
            ("timeout", limits.max_timeout_rate),
            ("refused", limits.max_refused_rate),
        ):
            if counts[status] > limit * n:
                share = f"{status}: {counts[status] / n:.0%} of {n} {phase} rows, limit {limit:.0%}"
                reasons.append(share + _advice(status, config, tally.length[phase]))
        if tally.turns[phase] and tally.no_action[phase] > limits.max_empty_rate * tally.turns[phase]:
            reasons.append(
                f"no_action: {tally.no_action[phase] / tally.turns[phase]:.0%} of {tally.turns[phase]} {phase} turns, "
                f"limit {limits.max_empty_rate:.0%}"
            )
    reasons += _teacher(config, history)
    reasons += [f"{mark}: {count} rows, {_MARKS[mark]}" for mark, count in sorted(tally.marks.items())]
    if len(versions) > 1:
        reasons.append(f"code_version: begun with {versions[0]}, gone on with {', '.join(versions[1:])}")
    reasons = [reason for reason in reasons if reason.partition(":")[0] not in config.validity.ignore]
    return {"valid": not reasons, "reasons": reasons}


def _teacher(config: Config, history: Sequence[Mapping[str, Any]]) -> list[str]:
    """A teacher that never gave anything usable taught nothing: its run is no measurement of the method."""
    seen = [record["reflect"] for record in history if "reflect" in record]
    asked = sum(part["minibatches"] for part in seen)
    causes = Counter(str(cause) for part in seen for cause in part["failed"].values())
    if not asked or causes.total() < asked:
        return []
    told = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    advice = ""
    if causes["truncated"] or causes["empty"]:
        advice = f"; model.teacher_max_completion_tokens={config.model.teacher_max_completion_tokens} may be too low"
    return [f"untaught: none of the teacher's {asked} analyses was usable ({told}){advice}"]


def _advice(status: str, config: Config, cut: int) -> str:
    if status == "empty" and cut:
        cap = config.env.max_completion_tokens
        return f"; {cut} of them were cut at env.max_completion_tokens={cap}: raise it"
    if status == "timeout":
        return f"; env.exec_timeout={config.env.exec_timeout:g}"
    return ""
