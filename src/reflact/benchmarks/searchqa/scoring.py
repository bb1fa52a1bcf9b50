"""Scoring a SearchQA reply."""

from __future__ import annotations

from collections.abc import Sequence

from reflact.benchmarks.answers import Extraction, extract
from reflact.benchmarks.single_turn import Answered
from reflact.benchmarks.text_scores import exact_match, normalise, token_f1
from reflact.core.names import RowStatus
from reflact.core.types import Outcome


def whole_answer(reply: str) -> bool:
    """Whether a cut reply holds a complete answer: only a closed tag shows that the answer itself was not cut."""
    found = extract(reply)
    return found.tagged and bool(found.text)


def score(answered: Answered, golds: Sequence[str]) -> Outcome:
    """Return the outcome: `hard` is exact match, `soft` token F1, each the largest over the golds."""
    found = extract(answered.text)
    answer = "" if found.text is None else found.text
    # A blank answer is never right, though a gold that is only an article normalises to the same nothing.
    hard = exact_match(answer, golds) if answer else 0.0
    soft = token_f1(answer, golds) if answer else 0.0
    return Outcome(
        status=RowStatus.OK,
        hard=hard,
        soft=soft,
        predicted_answer=answer,
        fail_reason=None if hard >= 1 else _fail_reason(found, golds, soft),
        n_turns=answered.n_turns,
        truncated=answered.truncated,
        conversation=answered.conversation,
        extra={"tagged": found.tagged},
    )


def _fail_reason(found: Extraction, golds: Sequence[str], soft: float) -> str:
    if not found.text:
        return "The answer tags were empty." if found.tagged else "The reply gave no answer."
    wrong = _what_is_wrong(found.text, golds, soft)
    if found.tagged:
        return wrong
    return f"The reply had no complete pair of answer tags, so its last line was taken. {wrong}"


def _what_is_wrong(answer: str, golds: Sequence[str], soft: float) -> str:
    if soft == 0:
        return "The answer is wrong: it has no word in common with what was expected."
    words = set(normalise(answer).split())
    accepted = [set(normalise(gold).split()) for gold in golds]
    if any(gold and gold < words for gold in accepted):
        return "The answer says too much: it holds what was expected and more words beside it."
    if any(words < gold for gold in accepted):
        return "The answer says too little: words of what was expected are missing."
    return "The answer is partly right: some of its words were expected, others not."
