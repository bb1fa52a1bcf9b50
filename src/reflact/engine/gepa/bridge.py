"""Between the event loop and a search that runs in a thread and calls back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Halt(BaseException):
    """Ends the search from inside one of its calls.

    It is no `Exception`, because the search catches those and goes on: a spent budget or a lost service must end it.
    """


class Bridge:
    """Runs one blocking function in a thread and carries its calls into the loop; both end together."""

    def __init__(self) -> None:
        """Prepare in the thread of the running loop."""
        self._loop = asyncio.get_running_loop()
        self._inside: asyncio.Task[Any] | None = None
        self._error: BaseException | None = None
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread.

        Returns:
            What it returns.

        Raises:
            BaseException: What it raised, or what one of its calls into the loop raised.
        """
        thread = asyncio.ensure_future(asyncio.to_thread(self._guarded, work))
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            self._closed = True
            if self._inside is not None:
                self._inside.cancel()
            await asyncio.wait([thread])
            thread.exception()  # it was told to stop, so what it says does not matter
            raise

    def call(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the loop and wait for it; only for the thread of `run`.

        Raises:
            Halt: The coroutine raised, or the run is being cancelled.
        """
        if self._closed or self._error is not None:
            raise Halt
        try:
            return asyncio.run_coroutine_threadsafe(self._entered(make), self._loop).result()
        except BaseException as error:
            self._error = error
            raise Halt from error

    async def _entered(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._closed:
            raise asyncio.CancelledError
        self._inside = asyncio.current_task()
        try:
            return await make()
        finally:
            self._inside = None

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except Halt as halt:
            if self._error is None:
                raise RuntimeError("the search was ended from outside") from halt
            raise self._error from None
