"""Running one asynchronous step of a conformance test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from reflact.models.protocol import ChatModel, ChatRequest, Message

T = TypeVar("T")

LIMIT_S = 60.0
"""No step of a conformance test takes longer, in seconds; a hang becomes a failure instead of a hung test run."""


def request(text: str = "Say hello.", *, cap: int = 64, timeout_s: float = 30.0) -> ChatRequest:
    """Return a small request."""
    return ChatRequest((Message("user", text),), max_completion_tokens=cap, timeout_s=timeout_s)


def run_with(model: ChatModel, work: Callable[[ChatModel], Awaitable[T]]) -> T:
    """Use a model in an event loop of its own and close it, whatever happens."""

    async def use() -> T:
        try:
            return await asyncio.wait_for(work(model), LIMIT_S)
        finally:
            await model.aclose()

    return asyncio.run(use())
