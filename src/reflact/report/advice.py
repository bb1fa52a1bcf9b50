"""What to try next, from a run's summary. Each rule is one small function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from reflact.report.summaries import SummaryView, counter
from reflact.report.text import plural

MOST = 4
SMALL_SELECTION = 10


def advice(summary: SummaryView, root: str) -> list[str]:
    """Return at most a few sentences, the most important first."""
    found = [sentence for rule in _RULES if (sentence := rule(summary, root))]
    return found[:MOST]


def _total(summary: SummaryView) -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in summary.statuses.values():
        total.update(counts)
    return total


def _share(summary: SummaryView, status: str) -> float:
    total = _total(summary)
    return total[status] / total.total() if total.total() else 0.0


def _simulated(summary: SummaryView, _root: str) -> str:
    if summary.flag("simulated"):
        return "These numbers are simulated. Run it for real with another harness, e.g. harness=openai_chat."
    return "Sample items only: run it on the real split before any number is used." if summary.flag("sample") else ""


def _empty(summary: SummaryView, _root: str) -> str:
    if _share(summary, "empty") < 0.01:
        return ""
    return (
        f"{_share(summary, 'empty'):.0%} of the replies were empty, often hidden reasoning that ate the token cap: "
        "raise env.max_completion_tokens, or lower the student's reasoning effort."
    )


def _timeout(summary: SummaryView, _root: str) -> str:
    if _share(summary, "timeout") < 0.02:
        return ""
    return f"{_share(summary, 'timeout'):.0%} of the rows timed out: raise env.exec_timeout."


def _refused(summary: SummaryView, _root: str) -> str:
    if _share(summary, "refused") < 0.01:
        return ""
    return (
        f"{_share(summary, 'refused'):.0%} of the rows were refused: look at `cause` in results.jsonl (content filter, "
        "context length, image)."
    )


def _limits(summary: SummaryView, _root: str) -> str:
    count, waited = summary.whole("rate_limits", "count_429") or 0, summary.number("rate_limits", "wait_s") or 0.0
    wall = summary.number("wall_time_s") or 0.0
    # Calls wait for other reasons too (a pause after a lost connection, limits of one's own): without a 429, no advice.
    if count < 20 and (not count or not wall or waited < 0.2 * wall):
        return ""
    return f"{plural(count, 'answer')} with status 429: lower env.workers or set limits.requests_per_minute."


def _nothing_accepted(summary: SummaryView, root: str) -> str:
    steps, accepted = summary.whole("steps", "total"), summary.whole("steps", "accepted")
    if not steps or accepted is None or accepted > 0:
        return ""
    if not summary.whole("steps", "rejected") and counter(summary.get("steps", "skipped"))["skip_no_patches"] == steps:
        return (
            "The teacher proposed no edit in any step: either nothing failed, or its replies could not be read; "
            f"{root}/steps/*/patches holds them."
        )
    return (
        f"No step was accepted. See {root}/steps/*/edit_apply_report.json for what was tried; a larger selection "
        "split, evaluation.gate_metric=soft or another optimizer.learning_rate may show a difference."
    )


def _not_better(summary: SummaryView, _root: str) -> str:
    bounds = summary.get("confidence", "delta_test")
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(isinstance(b, int | float) for b in bounds)):
        return ""
    if bounds[0] > 0 or bounds[1] < 0:
        return ""
    return "The interval of the gain on test holds zero: repeat with other train.seed values before claiming a gain."


def _small_selection(summary: SummaryView, _root: str) -> str:
    size = summary.whole("split", "selection")
    if size is None or size >= SMALL_SELECTION:
        return ""
    return f"The selection split has {plural(size, 'item')}: one lucky item decides a step. Use a larger one."


def _go_on(summary: SummaryView, _root: str) -> str:
    if summary.text("benchmark") != "orders" or summary.text("kind") == "evaluation":
        return ""
    same = f"reflact-train benchmark=orders harness={summary.text('harness')} env.due=true"
    own = "harness=openai_chat; `reflact doctor harness=openai_chat` says what it needs"
    return f"The same task with one field more: {same}. Your own model: {own}."


def _read_on(summary: SummaryView, root: str) -> str:
    if summary.text("kind") == "evaluation":
        return f"Read on: {root}/evaluation/results.jsonl has a line an item."
    return f"Read on: {root}/history.jsonl has a line a step; `reflact status FOLDER` shows all runs under a folder."


_RULES: tuple[Callable[[SummaryView, str], str], ...] = (
    _simulated,
    _empty,
    _timeout,
    _refused,
    _limits,
    _nothing_accepted,
    _not_better,
    _small_selection,
    _go_on,
    _read_on,
)
