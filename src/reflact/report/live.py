"""What is seen while a run goes on: a live panel, plain lines, or nothing.

The loop only appends to a queue; a thread of the display's own folds the events and draws, a few times a second.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TextIO

from reflact.config.schema import Config
from reflact.core.errors import ReflactError
from reflact.core.events import Emit, Event
from reflact.report.lines import PlainLines
from reflact.report.progress import RunProgress, event_json
from reflact.report.text import to_ascii

REFRESH_S = 0.25


class View(Protocol):
    """Shows progress; used from one thread."""

    def event(self, event: Mapping[str, Any]) -> None:
        """An event was folded into the progress."""

    def tick(self, now: float) -> None:
        """Time went on."""

    def close(self) -> None:
        """Leave the terminal as it was found."""


def make_display(
    config: Config, *, stream: TextIO | None = None, clock: Callable[[], float] = time.time
) -> AbstractContextManager[Emit]:
    """Return a context manager that gives where events go; leaving it restores the terminal.

    `display.mode=auto` is live where the stream is a terminal that can move its cursor, plain lines elsewhere. A
    live display on a stream that cannot show it falls back to plain lines.

    Args:
        config: `display.*`; with `run.resume`, also where the run's earlier events are.
        stream: Where to write; stderr if None.
        clock: Seconds since 1970.
    """
    return _display(config, stream or sys.stderr, clock)


@contextmanager
def _display(config: Config, stream: TextIO, clock: Callable[[], float]) -> Iterator[Emit]:
    mode = choose_mode(config.display.mode, stream)
    if mode == "off":
        yield lambda event: None
        return
    run = RunProgress()
    run.feed_all(_earlier_events(config))
    if mode == "live":
        from reflact.report.live_panel import LivePanel

        view: View = LivePanel(run, stream)
    else:
        view = _Plain(run, config.display.interval_s, stream)
    pump = Pump(run, view, clock)
    pump.start()
    try:
        yield pump.emit
    finally:
        pump.stop()


def choose_mode(asked: str, stream: Any, environ: Mapping[str, str] | None = None) -> str:
    """Return `live`, `plain` or `off` for a mode asked for and a stream."""
    if asked in ("off", "plain"):
        return asked
    dumb = (os.environ if environ is None else environ).get("TERM", "") in ("", "dumb", "unknown")
    try:
        terminal = bool(stream.isatty())
    except (AttributeError, ValueError):
        terminal = False
    return "live" if terminal and not dumb else "plain"


def _earlier_events(config: Config) -> list[dict[str, Any]]:
    """Return what a resumed run did before, so that its counts go on instead of starting at zero."""
    if not (config.run.resume and config.env.out_root):
        return []
    from reflact.rundir.events import read_events
    from reflact.rundir.layout import RunLayout

    try:
        return read_events(RunLayout(Path(config.env.out_root)).events)[0]
    except (OSError, ReflactError):
        # The run itself says what is wrong with its directory.
        return []


class Pump:
    """Carries events from the loop to a view, in a thread of its own."""

    def __init__(self, run: RunProgress, view: View, clock: Callable[[], float]) -> None:
        self._run = run
        self._view = view
        self._clock = clock
        self._queue: deque[tuple[float, Event]] = deque()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="reflact-display", daemon=True)
        self._broken = False

    def emit(self, event: Event) -> None:
        """Take an event; returns at once and never raises."""
        if not self._broken:
            self._queue.append((self._clock(), event))

    def start(self) -> None:
        """Begin to show."""
        self._thread.start()

    def stop(self) -> None:
        """Show what is left and restore the terminal, whatever ended the block."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _loop(self) -> None:
        try:
            while not self._stop.wait(REFRESH_S):
                self.drain()
            self.drain()
        except (OSError, ValueError):
            pass  # The terminal is gone (a closed pipe, a hung-up session): the run goes on unseen.
        finally:
            self._broken = True
            self._queue.clear()
            with suppress(OSError, ValueError):
                self._view.close()

    def drain(self) -> None:
        """Fold what has come in and show it."""
        while self._queue:
            at, event = self._queue.popleft()
            folded = event_json(event, at)
            self._run.feed(folded)
            self._view.event(folded)
        self._view.tick(self._clock())


class _Plain:
    """Lines on a stream that may be a file, a pipe or a terminal of any encoding."""

    def __init__(self, run: RunProgress, interval_s: float, stream: TextIO) -> None:
        self._stream = stream
        self._lines = PlainLines(run, interval_s, self._write)

    def _write(self, line: str) -> None:
        from reflact.report.console import speaks_utf8

        self._stream.write((line if speaks_utf8(self._stream) else to_ascii(line)) + "\n")
        self._stream.flush()

    def event(self, event: Mapping[str, Any]) -> None:
        self._lines.event(event)

    def tick(self, now: float) -> None:
        self._lines.tick(now)

    def close(self) -> None:
        """Nothing was changed on the stream."""
