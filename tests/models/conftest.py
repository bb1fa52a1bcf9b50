from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from reflact.testing import Responder, ScriptedServer


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Start scripted servers that end with the test."""
    with ExitStack() as stack:

        def start(responder: Responder | None = None, **more: Any) -> ScriptedServer:
            return stack.enter_context(ScriptedServer(responder, **more))

        yield start
