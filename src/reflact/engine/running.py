"""Runs a coroutine so that signals, failures of one part and Ctrl-C all end it cleanly."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from reflact.core.errors import ReflactError
from reflact.core.interrupts import SIGNALS, interrupted, require_uninterrupted

T = TypeVar("T")


def run_interruptibly(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end.

    In the main thread SIGINT, SIGTERM and SIGHUP cancel it; everything is closed on the way out. A SIGHUP that the
    process was started to ignore (`nohup`) stays ignored.

    Raises:
        Stopped: A signal came (`interrupted`), or the coroutine raised it.
        ReflactError: The first that any part raised, out of the groups that asyncio puts around it.
    """
    try:
        return asyncio.run(_main(make))
    except BaseExceptionGroup as group:
        raise leading(group) from group


async def _main(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    before = _handlers()
    for number in before:
        loop.add_signal_handler(number, stop, number)
    try:
        require_uninterrupted(before.values())
        task = asyncio.ensure_future(make())
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        raise interrupted(received[0].name) from None
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _handlers() -> dict[signal.Signals, Any]:
    """Return the present handlers of the signals that end a run; none in other threads, which get no signals."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in SIGNALS}
    if found[signal.SIGHUP] is signal.SIG_IGN:
        del found[signal.SIGHUP]
    # None: a handler that was not set from Python, which could not be set again from here.
    return {number: signal.SIG_DFL if handler is None else handler for number, handler in found.items()}


def leading(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the exception of a group that says most: ours first, then bugs, then cancellations."""
    flat: list[BaseException] = []
    pending: list[BaseException] = [group]
    while pending:
        error = pending.pop(0)
        if isinstance(error, BaseExceptionGroup):
            pending.extend(error.exceptions)
        else:
            flat.append(error)
    flat.sort(key=lambda e: (isinstance(e, ReflactError), isinstance(e, asyncio.CancelledError)))
    bugs = [e for e in flat if not isinstance(e, (ReflactError, asyncio.CancelledError))]
    ours = [e for e in flat if isinstance(e, ReflactError)]
    return (bugs or ours or flat)[0]
