"""Scoring a LiveMathematicianBench reply."""

from __future__ import annotations

from reflact.benchmarks.answers import Extraction, extract
from reflact.benchmarks.livemathematicianbench.options import Options
from reflact.benchmarks.single_turn import Answered
from reflact.core.names import RowStatus
from reflact.core.types import Outcome

_SHOWN = 200


def whole_answer(reply: str, options: Options) -> bool:
    """Whether a cut reply holds an answer: a closed tag with something in it, or a last line that names an option."""
    found = extract(reply)
    if found.tagged:
        return bool(found.text)
    return found.text is not None and options.read(found.text) is not None


def score(answered: Answered, options: Options) -> Outcome:
    """Return the outcome: 1 if the chosen label is the right one, else 0; `soft` is the same."""
    found = extract(answered.text)
    chosen = options.read(found.text) if found.text else None
    hard = float(chosen == options.right)
    return Outcome(
        status=RowStatus.OK,
        hard=hard,
        soft=hard,
        predicted_answer=_predicted(found, chosen),
        fail_reason=None if hard >= 1 else _fail_reason(found, chosen),
        n_turns=answered.n_turns,
        truncated=answered.truncated,
        conversation=answered.conversation,
        extra={"right_label": options.right},
    )


def _predicted(found: Extraction, chosen: str | None) -> str | None:
    if chosen is not None:
        return chosen
    return found.text[:_SHOWN] if found.tagged and found.text else None


def _fail_reason(found: Extraction, chosen: str | None) -> str:
    if chosen is not None:
        return f"Option {chosen} was chosen, which is not the right one."
    if found.tagged and not found.text:
        return "The answer tags were empty."
    if found.tagged:
        return "The answer tags held neither the letter nor the exact text of one option."
    return "The reply had no complete pair of answer tags, and its last line named no option."
