"""What the stages need of a journal: a stage is a memoised function of its key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from reflact.core.types import Json


class Journal(Protocol):
    """Where results of stages are kept, so that a resumed run reads what is there instead of paying again."""

    async def once(self, name: str, key: Json, make: Callable[[], Awaitable[dict[str, Json]]]) -> dict[str, Json]:
        """Return the result kept under `name` if it was made from `key`; otherwise make and keep it."""
        ...
