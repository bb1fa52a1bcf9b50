"""When a run's processes worked on it, read from its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from reflact.engine.summary import Session


def session_of(events: Sequence[Mapping[str, Any]], now: float, begun_with: str) -> Session:
    """Return start, end and working time of a run.

    A process that was killed is counted to its last event. The time in which a run only waited for another one's
    evaluation is left out.

    Args:
        events: The run's events in order.
        now: Unix seconds at the end.
        begun_with: Code version that began the run.
    """
    started: float | None = None
    begun = last = now
    worked = waited = 0.0
    for event in events:
        at = float(event["t"])
        if event["kind"] == "run_started":
            if started is None:
                started = at
            else:
                worked += max(0.0, last - begun)
            begun = at
        last = at
        if event["kind"] == "baseline_shared":
            waited += float(event["waited_s"])
    worked += max(0.0, now - begun)
    return Session(
        _stamp(now if started is None else started),
        _stamp(now),
        max(0.0, worked - waited),
        code_versions(begun_with, events),
    )


def code_versions(begun: str, events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the code versions that worked on a run, the one that began it first."""
    found = [
        str(event["detail"]["version"])
        for event in events
        if event["kind"] == "warning" and event.get("code") == "code_change" and "version" in event.get("detail", {})
    ]
    return tuple(dict.fromkeys([begun, *found]))


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
