"""Lets tasks through one a loop iteration, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque


class Turnstile:
    """Spreads bursts of requests and replies.

    An event loop takes all tasks that are ready through each stage together: of 64 requests that begin at once none
    leaves before all of them are made, and of 64 replies that arrive together all are dealt with before the first
    next request leaves, so that they come back as a burst. One at a time, a request is on its way while the next is
    made, and replies that follow find nobody in the way.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open = True

    async def enter(self) -> None:
        """Go on at once if nobody did in this iteration of the loop, else when those before have."""
        loop = asyncio.get_running_loop()
        if self._open:
            self._open = False
            loop.call_soon(self._next)
            return
        future = loop.create_future()
        self._waiting.append(future)
        await future

    def _next(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():  # cancelled ones are passed over
                future.set_result(None)
                asyncio.get_running_loop().call_soon(self._next)
                return
        self._open = True
