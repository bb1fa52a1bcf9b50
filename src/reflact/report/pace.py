"""How fast a run goes and how long it will still take."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

WINDOW_S = 180.0


@dataclass
class Rate:
    """Rows a minute over the last minutes."""

    times: deque[float] = field(default_factory=lambda: deque(maxlen=4096))
    since: float | None = None

    def start(self, at: float) -> None:
        """Work began (again) at that time: idle time before it does not count."""
        self.times.clear()
        self.since = at

    def tick(self, at: float) -> None:
        """A row ended."""
        self.since = at if self.since is None else self.since
        self.times.append(at)

    def per_minute(self, now: float) -> float | None:
        """Return rows a minute, None while nothing can be said."""
        while self.times and self.times[0] < now - WINDOW_S:
            self.times.popleft()
        if self.since is None or not self.times:
            return None
        full = len(self.times) == self.times.maxlen
        begin = self.times[0] if full else max(self.since, now - WINDOW_S)
        span = now - begin
        return 60.0 * len(self.times) / span if span > 0 else None


@dataclass
class Spent:
    """Foreground time by kind of work: seconds and rows of finished phases, seconds of teacher work between them."""

    seconds: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    between_s: float = 0.0

    def seconds_per_row(self, phase: str, current: Mapping[str, tuple[float, int]]) -> float | None:
        """Return wall seconds a row of that kind of phase, of any kind if that kind was not seen yet."""
        seconds = float(self.seconds[phase]) + current.get(phase, (0.0, 0))[0]
        rows = self.rows[phase] + current.get(phase, (0.0, 0))[1]
        if rows == 0:
            seconds = float(sum(self.seconds.values())) + sum(pair[0] for pair in current.values())
            rows = self.rows.total() + sum(pair[1] for pair in current.values())
        return seconds / rows if rows else None


def remaining_seconds(
    rows_left: Mapping[str, int],
    steps_left: int,
    steps_done: int,
    spent: Spent,
    current: Mapping[str, tuple[float, int]],
) -> float | None:
    """Return the seconds that the rest of a run takes at the pace so far; None while there is no pace.

    Args:
        rows_left: Rows still to come by kind of phase (an upper bound).
        steps_left: Steps whose teacher work is still to come.
        steps_done: Steps whose teacher work is part of `spent.between_s`.
        spent: Foreground time of what is finished.
        current: Seconds and rows of the unfinished foreground phase, by kind.
    """
    total = 0.0
    for phase, rows in rows_left.items():
        if rows <= 0:
            continue
        pace = spent.seconds_per_row(phase, current)
        if pace is None:
            return None
        total += pace * rows
    if steps_left and steps_done:
        total += steps_left * spent.between_s / steps_done
    return total
