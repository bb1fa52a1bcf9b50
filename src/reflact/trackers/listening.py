"""Trackers as listeners of a run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reflact.config.schema import Config
from reflact.core.errors import ReflactError
from reflact.core.events import Emit, Event
from reflact.report.progress import event_json
from reflact.rundir.events import read_events
from reflact.rundir.layout import RunLayout
from reflact.trackers.facts import begin_of, end_of
from reflact.trackers.numbers import Numbers
from reflact.trackers.process import Link
from reflact.trackers.registry import require_trackers

log = logging.getLogger(__name__)


@contextmanager
def tracking(config: Config, tell: Callable[[str], None] | None = None) -> Iterator[list[Emit]]:
    """Give the listeners of a run's trackers; leaving the block lets the trackers finish, within a deadline.

    Args:
        config: The configuration; none of `tracking.trackers` is no listener.
        tell: Is told at the end, for a person to read, which trackers failed and how; the log is told at once.

    Raises:
        ConfigError: A tracker does not exist.
        Unavailable: A tracker's packages are not installed.
    """
    if not config.tracking.trackers:
        yield []
        return
    require_trackers(config.tracking)
    tracked = Tracking(config)
    try:
        yield [tracked.emit]
    finally:
        tracked.close()
        for message in tracked.failures if tell is not None else ():
            assert tell is not None
            tell(message)


class Tracking:
    """Folds events and feeds trackers; whatever happens to these, `emit` returns at once and never raises."""

    def __init__(self, config: Config, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._clock = clock
        self._links: list[Link] = []
        self._numbers: Numbers | None = None
        self.failures: list[str] = []

    def emit(self, event: Event) -> None:
        """Take an event."""
        try:
            self._take(event_json(event, self._clock()))
        except Exception as error:  # noqa: BLE001 - a listener must not raise
            if not self.failures:
                self._failed(f"trackers failed: {type(error).__name__}: {error}. The run is not affected")

    def close(self) -> None:
        """Let the trackers finish at the same time, within `tracking.close_timeout_s`."""
        deadline = time.monotonic() + self._config.tracking.close_timeout_s
        for link in self._links:
            link.put_last()
        for link in self._links:
            link.close(deadline)

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["kind"] == "run_started":
            self._begin(event)
        if self._numbers is None:
            return
        found = self._numbers.feed(event)
        if found is not None:
            self._put({"metrics": found[1], "step": found[0], "t": event["t"]})
        if event["kind"] in ("run_finished", "run_stopped"):
            self._put({"end": end_of(self._config, event).to_json()})

    def _begin(self, event: Mapping[str, Any]) -> None:
        layout = RunLayout(Path(self._config.env.out_root).absolute())
        self._numbers = Numbers(_earlier(layout) if event.get("resumed") else ())
        for name in self._config.tracking.trackers:
            try:
                link = Link(name, layout.trackers / name, self._config.tracking.close_timeout_s, self._failed)
            except OSError as error:
                self._failed(f"the tracker {name} could not be started: {error}. The run is not affected")
                continue
            link.put({"begin": begin_of(self._config, name, event).to_json()})
            self._links.append(link)

    def _put(self, record: dict[str, Any]) -> None:
        for link in self._links:
            link.put(record)

    def _failed(self, message: str) -> None:
        log.warning("%s", message)
        self.failures.append(message)


def _earlier(layout: RunLayout) -> list[dict[str, Any]]:
    """Return the events of earlier processes: those before the last beginning, which is told as it happens."""
    try:
        events = read_events(layout.events)[0]
    except (OSError, ReflactError):
        return []  # the run itself says what is wrong with its directory
    begun = [place for place, event in enumerate(events) if event.get("kind") == "run_started"]
    return events[: begun[-1]] if begun else events
