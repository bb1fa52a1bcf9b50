"""Calls at one level of the path: `python -m bench.sdk_child LEVEL TRANSPORT URL N` prints CPU milliseconds a call."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import openai

import reflact
from bench.made import CONTEXT_CHARS
from reflact.core.names import Role
from reflact.models import openai_chat, sdk
from reflact.models.endpoints import Endpoint
from reflact.models.protocol import ChatRequest, Message

IN_FLIGHT = 64
_QUESTION = "Which of these words is the name of a river? " * (CONTEXT_CHARS // 45)


def main() -> None:
    """Warm up, call, print."""
    level, transport, url, n = sys.argv[1:]
    if transport == "httpx2":
        sdk._http = lambda: None
    print(1000 * asyncio.run(_measure(level, transport, url, int(n))) / int(n))


async def _measure(level: str, transport: str, url: str, n: int) -> float:
    call = _LEVELS[level](url, transport)
    await _calls(call, IN_FLIGHT)  # connections, and what the first call loads
    started = time.process_time()
    await _calls(call, n)
    return time.process_time() - started


async def _calls(call: Callable[[], Awaitable[object]], n: int) -> None:
    left = iter(range(n))

    async def work() -> None:
        for _ in left:
            await call()

    await asyncio.gather(*(work() for _ in range(min(IN_FLIGHT, n))))


def _plain(url: str, transport: str) -> Callable[[], Awaitable[object]]:
    """The SDK as its own documentation uses it."""
    http: Any = openai.DefaultAioHttpClient() if transport == "aiohttp" else None
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
    return lambda: client.chat.completions.create(model="m", messages=[{"role": "user", "content": _QUESTION}])


def _post(url: str, _transport: str) -> Callable[[], Awaitable[object]]:
    """The SDK as reflact uses it: its client, connections and credentials, the reply read with `json`."""
    client = sdk.SdkTransport(Endpoint(url=url, azure=False, auth="api_key", key="none"), None)
    body = {"model": "m", "messages": [{"role": "user", "content": _QUESTION}]}
    return lambda: client.post("/chat/completions", body, 60.0)


def _complete(url: str, _transport: str) -> Callable[[], Awaitable[object]]:
    """One attempt of the backend `openai_chat`."""
    model = openai_chat.connect(reflact.compose([f"model.student_base_url={url}"]), Role.STUDENT)
    request = ChatRequest(messages=(Message("user", _QUESTION),), max_completion_tokens=100, timeout_s=60.0)
    return lambda: model.complete(request)


_LEVELS = {"plain": _plain, "post": _post, "complete": _complete}

if __name__ == "__main__":
    main()
