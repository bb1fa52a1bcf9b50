"""Sentences about a run's progress, as plain text; the live panel, plain lines and tables share them."""

from __future__ import annotations

from reflact.report.phases import PhaseProgress
from reflact.report.progress import RunProgress
from reflact.report.retries import RATE_LIMITED, Waiting
from reflact.report.text import clean, count, counted, duration, money, plural, score
from reflact.report.verdicts import Verdict

QUIET_S = 15.0
"""Seconds without a finished row after which a display says so."""

FEW = 8
"""Rows left at which a display calls them waiting one by one."""

STATUS_ORDER = ("ok", "timeout", "empty", "refused", "error")


def phase_line(run: RunProgress, now: float) -> str:
    """Return where the run is: `steps/step_0003/selection 19/20 · 1 waiting, retry 2 of 5 (503)`."""
    phase = run.phase
    if phase is None:
        return " · ".join(part for part in (stage_text(run), waiting_text(run, None, now)) if part)
    parts = [f"{clean(phase.name, 60)} {phase.done}/{phase.n}", waiting_text(run, phase, now)]
    return " · ".join(part for part in parts if part)


def stage_text(run: RunProgress) -> str:
    """Return what happens between two phases."""
    if run.stage:
        calls = f", {plural(run.stage_calls, 'call')}" if run.stage_calls else ""
        return f"teacher: {clean(run.stage, 24).replace('_', ' ')}{calls}"
    return "" if run.state != "running" else "preparing"


def waiting_text(run: RunProgress, phase: PhaseProgress | None, now: float) -> str:
    """Return which calls are being repeated and why; without such, how long no row has ended."""
    calls = run.retries.waiting
    if calls:
        worst = max(calls, key=lambda call: (call.attempt, call.since))
        left = max((call.until for call in calls), default=now) - now
        pause = f", next try in {duration(left)}" if left >= 1 else ""
        return f"{len(calls)} waiting, {retry_text(worst)}{pause}"
    if phase is None or not phase.left:
        return ""
    quiet = now - max(phase.started_at, phase.last_row_at or 0.0)
    if quiet < QUIET_S:
        return ""
    if phase.left <= FEW:
        return f"{phase.left} waiting for an answer, {duration(quiet)} since the last row"
    return f"{duration(quiet)} since the last row"


def retry_text(call: Waiting) -> str:
    """Return `retry 2 of 5 (503)`."""
    most = max(call.attempt, call.max_attempts - 1)
    return f"retry {call.attempt} of {most} ({clean(call.reason, 24).replace('_', ' ')})"


def place_text(run: RunProgress) -> str:
    """Return `epoch 1/4 · step 3/16`."""
    epochs = f"epoch {run.epoch}/{run.epochs}" if run.epochs else ""
    steps = f"step {run.step}/{run.steps}" if run.steps else ""
    return " · ".join(part for part in (epochs, steps) if part)


def scores_text(run: RunProgress) -> str:
    """Return the selection scores so far, and test scores once there are some."""
    parts = []
    if run.baseline is not None:
        parts.append(f"initial {score(run.baseline)}")
    if run.verdicts.last is not None:
        parts += [f"current {score(run.current)}", f"best {score(run.best)}"]
    tests = [(name, run.test(name)) for name in ("baseline", "best", "final")]
    parts += [
        f"test {'initial' if name == 'baseline' else name} {score(value)}" for name, value in tests if value is not None
    ]
    return " · ".join(parts)


def actions_text(run: RunProgress) -> str:
    """Return how decisions went: `2 accepted, 1 rejected, 1 skipped`."""
    kinds = {"accepted": 0, "rejected": 0, "skipped": 0}
    for action, number in run.verdicts.actions.items():
        kind = "skipped" if action.startswith("skip") else "rejected" if action == "reject" else "accepted"
        kinds[kind] += number
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)


def statuses_text(run: RunProgress, *, zeros: bool = False) -> str:
    """Return rows by status: `ok 230, timeout 1`; `ok` is always there."""
    counts = run.statuses
    names = [*STATUS_ORDER, *sorted(set(counts) - set(STATUS_ORDER))]
    return ", ".join(f"{clean(name, 16)} {counts[name]}" for name in names if zeros or counts[name] or name == "ok")


def retries_text(run: RunProgress) -> str:
    """Return retries by status or cause and what rate limits cost in time; `""` if there were none."""
    log = run.retries
    if not log.counts and not log.given_up:
        return ""
    text = counted(log.counts)
    if log.counts[RATE_LIMITED]:
        text += f" (waited {duration(log.wait_s)} for rate limits)"
    if log.given_up:
        text += f"{'; ' if text else ''}given up: {counted(log.given_up)}"
    return text.replace("_", " ")


def spending_text(run: RunProgress) -> str:
    """Return tokens by role and cost."""
    spent = run.spending
    roles = ", ".join(f"{role} {count(number)}" for role, number in sorted(spent.tokens.items()))
    tokens = f"{count(spent.tokens_total)} tokens" + (f" ({roles})" if roles else "")
    if not spent.calls:
        return tokens
    return f"{tokens} · {money(spent.cost_usd)}" if spent.cost_usd is not None else f"{tokens} · price not known"


def verdict_text(kept: Verdict) -> str:
    """Return a decision in words: `step 3 accept_new_best: 0.412 -> 0.455, 3 of 4 edits`."""
    where = f"step {kept.step}" if kept.what == "step" else f"epoch {kept.epoch} {clean(kept.what, 24)}"
    parts = [f"{where}: {clean(kept.action, 24)}"]
    if kept.candidate is not None:
        parts.append(f"candidate {score(kept.candidate)}")
    if kept.current is not None:
        parts.append(f"current {score(kept.current)}")
    if kept.best is not None:
        parts.append(f"best {score(kept.best)}")
    if kept.edits:
        parts.append(plural(kept.edits, "edit") if kept.budget is None else f"{kept.edits} of {kept.budget} edits")
    return ", ".join(parts)
