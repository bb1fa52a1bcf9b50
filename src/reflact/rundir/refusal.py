"""The one message that says why a directory was refused and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.core.names import RunState
from reflact.rundir.view import RunView

_SHOWN = 3
"""Names that are shown of a directory that is no run."""


def refusal(view: RunView) -> str:
    """Return the message for a directory that was refused: what it is, what it holds, the three ways on."""
    path = shown(view.root)
    return (
        f"{path} was refused and nothing in it was changed: it holds {holds(view)}. "
        f"Ways on: another directory (env.out_root=...); run.resume=true{_resume_note(view)}; "
        f"or move it out of the way with: reflact archive {shlex.quote(path)}"
    )


def holds(view: RunView) -> str:
    """Return in a few words what a directory holds."""
    if not view.ours:
        return _foreign(view)
    if view.state is RunState.DONE or (view.state is RunState.ARCHIVED and view.summary):
        return f"a finished run ({_score(view.summary or {})})"
    owner = view.claim.owner
    if view.claim.alive is not False:
        if owner is None:
            return "a run that another process is claiming at this moment"
        certain = "" if view.claim.alive else ", as far as can be told from here"
        return f"a run that is being written now by pid {owner.pid} on host {shown(owner.host)}{certain}"
    last = f", last write {ago(view.last_write_s)}" if view.last_write_s is not None else ""
    return f"an unfinished run ({_why(view)}){last}"


def ago(seconds: float) -> str:
    """Return a time span in the unit that a person would use."""
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min ago"
    if seconds < 172_800:
        return f"{seconds / 3600:.0f} h ago"
    return f"{seconds / 86_400:.0f} days ago"


def shown(text: Path | str) -> str:
    """Return a name as it can be printed anywhere on one line: odd characters as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in str(text))


def _why(view: RunView) -> str:
    if view.claim.number == 0:
        return "its process ended before it had begun, or is about to begin"
    if view.claim.void:
        return "a copy of another directory"
    if view.state is RunState.STALE and view.claim.owner is not None:
        return f"stale: pid {view.claim.owner.pid} on host {shown(view.claim.owner.host)} is gone"
    state = view.state.value if view.state else "unknown"
    return f"{state}: {view.stop_cause}" if view.stop_cause else state


def _score(summary: Mapping[str, Any]) -> str:
    best = summary.get("best")
    for part in ("test", "selection"):
        score = best.get(part) if isinstance(best, dict) else None
        if isinstance(score, dict) and isinstance(score.get("hard"), int | float):
            return f"{part} score {score['hard']:.4g}"
    return "no score recorded"


def _foreign(view: RunView) -> str:
    names = ", ".join(shown(name) for name in view.names[:_SHOWN])
    more = f" and {len(view.names) - _SHOWN} more" if len(view.names) > _SHOWN else ""
    return f"{names}{more}, which is not a run of reflact"


def _resume_note(view: RunView) -> str:
    if not view.ours:
        return " (only for a run of reflact, so not here)"
    if view.state is not RunState.DONE and view.claim.alive is not False:
        return " (once that process has ended)"
    return ""
