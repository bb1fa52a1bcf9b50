"""Lets tasks through one a loop iteration, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque


class Turnstile:
    """Spreads bursts of replies.

    Replies to requests that were sent together arrive together. An event loop takes all of them through each stage
    together, so none of the next requests leaves before the last reply has been dealt with, and the burst comes back
    as one. One at a time, each task goes on to its next request while the others wait: the requests leave one by one,
    and their replies find nobody in the way.
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
