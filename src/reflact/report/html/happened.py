"""What a run's events tell: a timeline, and who spent what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from reflact.core.types import Json
from reflact.core.usage import Usage
from reflact.report.html.reading import NONSENSE, mapping, number, whole, words
from reflact.report.progress import RunProgress, seconds

_BINS = 240
"""Intervals of the timeline in which repeated attempts are counted."""
_MOST_WARNINGS = 100


@dataclass
class Spent:
    """What one stage of one role consumed."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    unpriced: int = 0
    latency_s: float = 0.0

    def to_json(self) -> dict[str, Json]:
        """Return the counts; a cost is None where the price of a call is not known."""
        return {
            **self.usage.to_json(),
            "cost_usd": None if self.unpriced else round(self.cost_usd, 6),
            "latency_s": round(self.latency_s, 3),
        }


class Happened:
    """Takes a run's events one by one."""

    def __init__(self) -> None:
        self.progress = RunProgress()
        self._spent: dict[tuple[str, str, str], Spent] = {}
        self._processes: list[list[float]] = []
        self._offset = 0.0
        self._phases: dict[str, list[Json]] = {}
        self._bars: list[list[Json]] = []
        self._teacher: list[list[float]] = []
        self._marks: list[list[Json]] = []
        self._retries: list[tuple[float, str]] = []
        self._warnings: list[list[Json]] = []
        self._last: float | None = None

    def feed_all(self, events: Iterable[Mapping[str, Any]]) -> Happened:
        """Take events in order."""
        for event in events:
            self.feed(event)
        return self

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take an event; one without a time, or of an unknown kind, tells nothing here."""
        told = event.get("t")
        at = seconds(told) if isinstance(told, str) else number(told)
        if at is None:
            return
        with suppress(*NONSENSE):
            self.progress.feed(event)
        kind = words(event.get("kind"))
        if kind == "run_started" or not self._processes:
            self._start(at)
        place = round(at - self._offset, 3)
        self._processes[-1][1] = max(place, self._processes[-1][1])
        handler = getattr(self, f"_on_{kind}", None)
        if handler is not None:
            handler(place, event)
        self._last = at if self._last is None else max(at, self._last)

    def timeline(self) -> Json:
        """Return lanes over seconds of work: what lies between two processes of a run is left out."""
        for name in list(self._phases):
            self._close(name, self._processes[-1][1] if self._processes else 0.0)
        end = self._processes[-1][1] if self._processes else 0.0
        return {
            "end": end,
            "processes": self._processes,
            "bars": self._bars,
            "teacher": self._teacher,
            "marks": self._marks,
            "retries": self._binned(end),
            "warnings": self._warnings,
        }

    def spent(self) -> list[Json]:
        """Return tokens, calls and cost of every (role, stage, phase)."""
        return [
            {"role": role, "stage": stage, "phase": phase, **spent.to_json()}
            for (role, stage, phase), spent in sorted(self._spent.items())
        ]

    def _start(self, at: float) -> None:
        """A process began; the clock of the timeline goes on where the former one stopped."""
        end = self._processes[-1][1] if self._processes else 0.0
        for name in list(self._phases):
            self._close(name, end)
        self._offset = at - end
        self._processes.append([end, end])

    def _on_phase_started(self, at: float, event: Mapping[str, Any]) -> None:
        name = words(event.get("name"))
        self._phases[name] = [name, words(event.get("phase")), at, at, int(event.get("background") is True), None]

    def _on_phase_ended(self, at: float, event: Mapping[str, Any]) -> None:
        name = words(event.get("name"))
        if name in self._phases:
            self._phases[name][5] = number(event.get("hard"))
            self._close(name, at)

    def _close(self, name: str, at: float) -> None:
        bar = self._phases.pop(name)
        bar[3] = at
        self._bars.append(bar)

    def _on_call(self, at: float, event: Mapping[str, Any]) -> None:
        spent = self._count(event)
        cost = number(event.get("cost_usd"))
        if cost is not None:
            spent.cost_usd += cost
        elif any(whole(value) for name, value in mapping(event.get("usage")).items() if name.endswith("_tokens")):
            spent.unpriced += 1
        latency = number(event.get("latency_s")) or 0.0
        spent.latency_s += latency
        if event.get("role") == "teacher":
            self._teaching(max(at - latency, self._processes[-1][0]), at)

    def _teaching(self, start: float, end: float) -> None:
        """Join calls of the teacher that overlap or nearly touch."""
        if self._teacher and start <= self._teacher[-1][1] + 0.05:
            self._teacher[-1][0] = min(self._teacher[-1][0], start)
            self._teacher[-1][1] = max(self._teacher[-1][1], end)
        else:
            self._teacher.append([round(start, 3), end])

    def _on_call_failed(self, at: float, event: Mapping[str, Any]) -> None:
        self._count(event)
        self._retries.append((at, f"gave up: {words(event.get('cause'))}"))

    def _count(self, event: Mapping[str, Any]) -> Spent:
        key = tuple(words(event.get(name)) for name in ("role", "stage", "phase"))
        spent = self._spent.setdefault((key[0], key[1], key[2]), Spent())
        counts = {str(name): whole(value) or 0 for name, value in mapping(event.get("usage")).items()}
        spent.usage = spent.usage + Usage.from_json(counts)
        return spent

    def _on_retry(self, at: float, event: Mapping[str, Any]) -> None:
        self._retries.append((at, words(event.get("status")) or words(event.get("cause"))))

    def _on_decision(self, at: float, event: Mapping[str, Any]) -> None:
        where = f"step {words(event.get('step'))}"
        if event.get("what") != "step":
            where = f"epoch {words(event.get('epoch'))} {words(event.get('what')).replace('_', ' ')}"
        self._marks.append([at, words(event.get("action")), where])

    def _on_warning(self, at: float, event: Mapping[str, Any]) -> None:
        if len(self._warnings) < _MOST_WARNINGS:
            self._warnings.append([at, words(event.get("code")), words(event.get("message"))])

    def _on_run_stopped(self, at: float, event: Mapping[str, Any]) -> None:
        self._warnings.append([at, words(event.get("state")), words(event.get("message"))])

    def _binned(self, end: float) -> list[Json]:
        """Return [from, to, [[cause, count], ...]] of the intervals with repeated attempts."""
        width = max(end / _BINS, 1e-9)
        bins: dict[int, Counter[str]] = {}
        for at, cause in self._retries:
            bins.setdefault(min(int(at / width), _BINS - 1), Counter())[cause] += 1
        return [
            [round(place * width, 3), round((place + 1) * width, 3), sorted(counts.items())]
            for place, counts in sorted(bins.items())
        ]
