"""An event loop whose clock jumps to the next timer, so that minutes pass at once and always in the same way."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    now = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout is not None:
            self.now += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Nothing but timers moves its time."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._jumping.now


def now() -> float:
    """The running loop's time."""
    return asyncio.get_running_loop().time()


def run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
