"""Scoring a DocVQA reply."""

from __future__ import annotations

from collections.abc import Sequence

from reflact.benchmarks.answers import Extraction, extract
from reflact.benchmarks.docvqa.anls import HARD_FROM, anls, normalise
from reflact.benchmarks.docvqa.images import SentImage
from reflact.benchmarks.single_turn import Answered
from reflact.core.names import RowStatus
from reflact.core.types import Outcome


def whole_answer(reply: str) -> bool:
    """Whether a cut reply holds a complete answer: only a closed tag shows that the answer itself was not cut."""
    found = extract(reply)
    return found.tagged and bool(found.text)


def score(answered: Answered, golds: Sequence[str], sent: SentImage) -> Outcome:
    """Return the outcome: `soft` is ANLS, `hard` whether it reaches 0.999."""
    found = extract(answered.text)
    # A blank answer is never right, though a gold of odd blanks might normalise to the same nothing.
    soft = anls(found.text, golds) if found.text else 0.0
    hard = float(soft >= HARD_FROM)
    return Outcome(
        status=RowStatus.OK,
        hard=hard,
        soft=soft,
        predicted_answer="" if found.text is None else found.text,
        fail_reason=None if hard >= 1 else _fail_reason(found, golds, soft),
        n_turns=answered.n_turns,
        truncated=answered.truncated,
        conversation=answered.conversation,
        extra={"tagged": found.tagged, "image": sent.record()},
    )


def _fail_reason(found: Extraction, golds: Sequence[str], soft: float) -> str:
    if not found.text:
        return "The answer tags were empty." if found.tagged else "The reply gave no answer."
    wrong = _what_is_wrong(normalise(found.text), [normalise(gold) for gold in golds], soft)
    if found.tagged:
        return wrong
    return f"The reply had no complete pair of answer tags, so its last line was taken. {wrong}"


def _what_is_wrong(answer: str, golds: Sequence[str], soft: float) -> str:
    if any(gold and gold in answer for gold in golds):
        return "The answer says too much: it holds what was expected and more beside it."
    if any(answer in gold for gold in golds):
        return "The answer says too little: a part of what was expected is missing."
    if soft == 0:
        return "The answer is wrong: half of its characters or more would have to change."
    return "The answer is nearly right: some of its characters differ from what was expected."
