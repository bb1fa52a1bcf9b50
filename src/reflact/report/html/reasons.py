"""Why a candidate was taken or not, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflact.core.names import Action
from reflact.report.html.reading import items, mapping, number, whole, words
from reflact.report.text import score

_SKIPPED = {
    Action.SKIP_NO_PATCHES: "There was nothing to try: no analyst proposed a change.",
    Action.SKIP_NO_CHANGE: "The candidate is the current skill: no edit changed it, so it was not evaluated.",
    Action.SKIP_NO_REWRITE: "The teacher gave no document that could be taken.",
}


def reason(record: Mapping[str, Any], before: float | None) -> str:
    """Return why the record's action was what it was.

    Args:
        record: A record of `history.jsonl`.
        before: The current skill's score before it, in the gate's metric.
    """
    action, gate = words(record.get("action")), mapping(record.get("gate"))
    cause = next((words(text) for text in (_cause(record), gate.get("indecisive")) if text), "")
    if action in _SKIPPED:
        return f"{_SKIPPED[Action(action)]}{f' Cause: {cause}.' if cause else ''}"
    if "bound" in gate:
        return _bound(gate)
    candidate = mapping(record.get("candidate"))
    after = number(candidate.get("score"))
    scores = f"Selection {score(before)} → {score(after)}{_n(candidate)}"
    if "indecisive" in gate:
        return f"{scores}. Not decided: {cause}, and at least 95% of the items have to be scored for both."
    if gate.get("rule") == "gepa":
        return _gepa(scores, action, gate, after)
    return f"{scores}. {_rule(action, gate, before, after)}"


def _cause(record: Mapping[str, Any]) -> str:
    edits = mapping(record.get("edits"))
    return words(edits.get("rewrite_cause") or edits.get("cause"))


def _n(candidate: Mapping[str, Any]) -> str:
    scored = whole(mapping(candidate.get("selection")).get("scored"))
    return "" if scored is None else f" (n={scored})"


def _bound(gate: Mapping[str, Any]) -> str:
    if gate.get("bound") == "known":
        return "Rejected without a call: the same text had been found hopeless against the same current skill."
    rows, n = words(gate.get("bound")), words(gate.get("n"))
    return f"Rejected early, after {rows} of {n} rows: whatever the others gave, it could not beat the current skill."


def _gepa(scores: str, action: str, gate: Mapping[str, Any], after: float | None) -> str:
    sums = [score(number(value)) for value in items(gate.get("minibatch"))]
    tried = f"On its minibatch the candidate had {sums[1]}, its parent {sums[0]}" if len(sums) == 2 else "Tried"
    if after is None:
        return f"{tried}: not better there, so it was not measured."
    new = ", a new best" if action == Action.ACCEPT_NEW_BEST else "; it joins the pool"
    return f"{tried}. {scores}{new}."


def _rule(action: str, gate: Mapping[str, Any], before: float | None, after: float | None) -> str:
    rule = words(gate.get("rule"))
    if action == Action.FORCE_ACCEPT:
        return "Taken without a gate" + (", and a new best." if gate.get("new_best") is True else ".")
    if rule == "paired":
        m, positive, p = whole(gate.get("m")), whole(gate.get("positive")), number(gate.get("p"))
        test = f"{positive} of the {m} items that changed got better, p = {score(p)} (sign test)"
        return f"{'Taken' if action != Action.REJECT else 'Rejected'}: {test}."
    if action == Action.REJECT:
        return "Rejected: a tie is no gain." if before == after else "Rejected: not better than the current skill."
    best = ", and the best so far." if action == Action.ACCEPT_NEW_BEST else "."
    return f"Taken: better than the current skill{best}"
