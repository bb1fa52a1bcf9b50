"""A bounded number of things at once, in whichever event loop they are waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary


@dataclass(frozen=True)
class Turns:
    """Lets in a bounded number at once.

    Attributes:
        at_once: How many.
    """

    at_once: int
    _loops: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it."""
        # A semaphore belongs to the loop that it was first waited for in.
        turns = self._loops.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.at_once))
        async with turns:
            yield
