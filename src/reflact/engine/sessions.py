"""When a run's processes worked on it, read from its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from reflact.engine.summary import Session


def session_of(events: Iterable[Mapping[str, Any]], now: float) -> Session:
    """Return start, end and working time of a run.

    A process that was killed is counted to its last event.

    Args:
        events: The run's events in order.
        now: Unix seconds at the end.
    """
    started: float | None = None
    begun = last = now
    worked = 0.0
    for event in events:
        at = float(event["t"])
        if event["kind"] == "run_started":
            if started is None:
                started = at
            else:
                worked += max(0.0, last - begun)
            begun = at
        last = at
    worked += max(0.0, now - begun)
    return Session(_stamp(now if started is None else started), _stamp(now), worked)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
