"""A training run on a clock that only moves when everybody waits: its schedule without the machine's noise.

Models are simulated and calls take exactly their latency; threads and files take no time at all. What is left is
what the scheduler decides, the same on every machine.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import reflact
from reflact.core.events import Event
from reflact.engine import assemble
from reflact.engine.run import train
from reflact.models.rehearsal import RehearsalModel


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next timer when nothing is ready and no thread is at work."""

    def __init__(self) -> None:
        self.now = 0.0
        self.threads = 0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Virtual seconds."""
        return self.now

    def run_in_executor(self, executor: Executor | None, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Run in a thread; time stands still meanwhile."""
        future = super().run_in_executor(executor, func, *args)
        self.threads += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _future: asyncio.Future[Any]) -> None:
        self.threads -= 1


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        waits_for_threads = timeout is None or self._loop.threads > 0
        ready = super().select(timeout if timeout == 0 else 0.05 if waits_for_threads else 0)
        if not ready and timeout and not self._loop.threads:
            self._loop.now += timeout
        return ready


class _Policy(asyncio.DefaultEventLoopPolicy):
    def __init__(self) -> None:
        super().__init__()
        self.loop: VirtualLoop | None = None

    def new_event_loop(self) -> VirtualLoop:
        self.loop = VirtualLoop()
        return self.loop


class Trace:
    """The events of a run with their virtual times."""

    def __init__(self) -> None:
        self.events: list[tuple[float, Event]] = []
        self._policy = _Policy()

    def now(self) -> float:
        """Virtual seconds since the run began."""
        return 0.0 if self._policy.loop is None else self._policy.loop.now

    def __call__(self, event: Event) -> None:
        """Remember an event."""
        self.events.append((self.now(), event))

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Let event loops and the run's clock be virtual."""
        asyncio.set_event_loop_policy(self._policy)
        real, assemble.time = assemble.time, SimpleNamespace(monotonic=self.now)
        try:
            yield
        finally:
            assemble.time = real
            asyncio.set_event_loop_policy(None)


def trace(overrides: Sequence[str], *, even: bool) -> tuple[Trace, Mapping[str, Any]]:
    """Train in virtual time.

    Args:
        overrides: The configuration; it names the latency (`rehearsal.latency_s`).
        even: Every call takes the same time; otherwise between half and one and a half of it.

    Returns:
        The trace and the run's summary.
    """
    run = Trace()
    draw = RehearsalModel._draw

    def alike(self: RehearsalModel, what: str, key: str, attempt: int) -> float:
        return 0.5 if what == "latency" else draw(self, what, key, attempt)

    config = reflact.compose(["harness=rehearsal", "display.mode=off", *overrides])
    RehearsalModel._draw = alike if even else draw
    try:
        with run.clock():
            summary = train(config, listeners=(run,))
    finally:
        RehearsalModel._draw = draw
    return run, summary.to_json()
