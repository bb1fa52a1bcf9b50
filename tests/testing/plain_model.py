"""A complete small chat model behind HTTP, as a third party would write it."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp

from reflact.core.usage import Usage
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, Message, ModelInfo

STATUSES = {401: Failure.AUTH, 403: Failure.AUTH, 404: Failure.NOT_FOUND, 429: Failure.RATE_LIMIT}
CODES = {
    "insufficient_quota": (Failure.QUOTA, False),
    "content_filter": (Failure.CONTENT_FILTER, True),
    "context_length_exceeded": (Failure.BAD_REQUEST, True),
}


class PlainModel:
    supports_prefill = False

    def __init__(self, base_url: str, key: str) -> None:
        self.info = ModelInfo("plain", "m", base_url)
        self._key = key
        self._url = base_url
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        try:
            async with asyncio.timeout(request.timeout_s):
                return await self._attempt(self._session, request)
        except TimeoutError as error:
            raise CallError(Failure.NO_ANSWER, "no answer in time") from error
        except aiohttp.ClientError as error:
            raise CallError(Failure.CONNECTION, type(error).__name__) from error

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _attempt(self, session: aiohttp.ClientSession, request: ChatRequest) -> ChatReply:
        headers = {"Authorization": f"Bearer {self._key}"}
        async with session.post(f"{self._url}/chat/completions", json=body_of(request), headers=headers) as response:
            text = await response.text()
        if response.status != 200:
            raise self._error(response, text)
        try:
            data = json.loads(text)
        except ValueError as error:
            raise CallError(Failure.SERVER, "the answer is not JSON") from error
        choice = data["choices"][0]
        return ChatReply(choice["message"]["content"] or "", choice["finish_reason"], usage_of(data.get("usage")))

    def _error(self, response: aiohttp.ClientResponse, text: str) -> CallError:
        try:
            code = json.loads(text)["error"].get("code")
        except ValueError:
            code = None
        fallback = Failure.SERVER if response.status >= 500 else Failure.BAD_REQUEST
        failure, specific = CODES.get(code, (STATUSES.get(response.status, fallback), False))
        return CallError(
            failure,
            text.replace(self._key, "***"),
            status=response.status,
            retry_after_s=seconds(response.headers.get("Retry-After")),
            item_specific=specific,
        )


def seconds(header: str | None) -> float | None:
    if header is None or header.replace(".", "").isdigit():
        return None if header is None else float(header)
    return parsedate_to_datetime(header).timestamp() - time.time()


def body_of(request: ChatRequest) -> dict[str, Any]:
    messages = [{"role": m.role, "content": parts_of(m)} for m in request.messages]
    if request.schema is not None:
        # This model's servers have no structured output: it is asked for in words.
        wanted = f"Reply with JSON only:\n```json\n{json.dumps(request.schema.schema)}\n```"
        messages.append({"role": "user", "content": wanted})
    return {"model": "m", "messages": messages, "max_tokens": request.max_completion_tokens}


def parts_of(message: Message) -> Any:
    if not message.images:
        return message.content
    images = [f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}" for image in message.images]
    return [
        {"type": "text", "text": message.content},
        *({"type": "image_url", "image_url": {"url": url}} for url in images),
    ]


def usage_of(data: dict[str, Any] | None) -> Usage:
    if data is None:
        return Usage(calls=1)
    prompt, completion = data.get("prompt_tokens_details", {}), data.get("completion_tokens_details", {})
    return Usage(
        calls=1,
        prompt_tokens=data["prompt_tokens"],
        cached_tokens=prompt.get("cached_tokens", 0),
        completion_tokens=data["completion_tokens"],
        reasoning_tokens=completion.get("reasoning_tokens", 0),
    )
