"""The real service behind the relay, as a model: one attempt a call, its answer handed on while it comes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from reflact.core.usage import Usage
from reflact.models.classify import classify, read_problem
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, ModelInfo
from reflact.models.retry_after import retry_after_s
from reflact.relay.wires import Reading, Wire
from reflact.rundir.redact import Redactor

STREAM_CUT = "stream_cut"
"""Cause of a failure in the middle of an answer, which only the program can ask for again."""
_CONNECT_S = 15.0
# What a connection says of itself, and every way to say who one is, stay here.
_HOP = ("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect")
_IDENTITY = ("authorization", "x-api-key", "api-key", "cookie", "proxy-authorization", "proxy-connection")
_NOT_PASSED = frozenset((*_HOP, *_IDENTITY, "accept-encoding"))
_TOLD = ("content-type", "request-id", "x-request-id", "retry-after", "retry-after-ms", "x-should-retry")
Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the service said instead of an answer, to be said again word by word."""

    status: int
    headers: Headers
    content: bytes


@dataclass(slots=True)
class Passage:
    """A request on its way and the answer's way back.

    Attributes:
        path: Path below the service's base URL.
        headers: The program's own headers.
        body: The program's own body.
        begin: Opens the answer to the program, with status and headers.
        write: Hands on a piece of it.
        begun: The program has had some of the answer, so that nothing can be repeated any more.
        complete: The answer's last event was read; whether the program still listens does not matter any more.
        spoken: The last refusal of the service.
    """

    path: str
    headers: Headers
    body: bytes
    begin: Callable[[int, Headers], Awaitable[None]]
    write: Callable[[bytes], Awaitable[None]]
    begun: bool = False
    complete: bool = False
    spoken: Spoken | None = None


@dataclass(frozen=True, slots=True)
class RelayedRequest(ChatRequest):
    """A call whose content is the program's own; only the relay's model takes it."""

    passage: Passage | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Service:
    """Where the model is and how one is let in.

    Attributes:
        url: Base URL, to which `/responses` or `/v1/messages` is added.
        wire: Its format.
        authorise: Gives the headers with the credential.
        secrets: What must not be seen in any message.
        refuse: Takes headers back that were not let in; whether there may be others.
        query: What every URL ends with, such as `api-version=preview`.
        fleeting: The credential is a token, which ends.
    """

    url: str
    wire: Wire
    authorise: Callable[[], Awaitable[Headers]] = field(repr=False)
    secrets: Callable[[], tuple[str, ...]] = field(repr=False, default=tuple)
    refuse: Callable[[Headers], bool] = field(repr=False, default=lambda headers: False)
    query: str = ""
    fleeting: bool = False

    def at(self, path: str) -> str:
        """Return the whole URL of a path, which may have a query of its own."""
        joint = "&" if "?" in path else "?"
        return f"{self.url}{path}{joint}{self.query}" if self.query else self.url + path


class Upstream:
    """A `ChatModel` that passes requests of agent programs on.

    Args:
        service: Where to.
        info: What is recorded of it.
        silence_s: Seconds without a byte inside an answer after which it is given up.
        now: Seconds since the epoch.
    """

    supports_prefill = False

    def __init__(
        self, service: Service, info: ModelInfo, silence_s: float, now: Callable[[], float] = time.time
    ) -> None:
        self.service = service
        self._info = info
        self._silence_s = silence_s
        self._now = now
        self._session: aiohttp.ClientSession | None = None

    @property
    def info(self) -> ModelInfo:
        """What is recorded of this model."""
        return self._info

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt.

        Raises:
            CallError: There was no answer, or it broke off after the program had a part of it (`stream_cut`).
        """
        assert isinstance(request, RelayedRequest) and request.passage is not None
        passage = request.passage
        failed: CallError
        try:
            return await self._attempt(passage, request.timeout_s)
        except CallError as error:
            failed = error
        except aiohttp.ConnectionTimeoutError:
            failed = CallError(Failure.CONNECTION, f"no connection within {_CONNECT_S:g} s")
        except TimeoutError:
            failed = CallError(Failure.NO_ANSWER, f"no answer within {min(request.timeout_s, self._silence_s):.4g} s")
        except aiohttp.ClientError as error:
            failed = CallError(Failure.CONNECTION, f"no connection: {type(error).__name__}: {error}")
        failed.args = (Redactor(self.service.secrets()).exact(str(failed)),)
        raise failed.with_traceback(None)

    async def aside(self, path: str, headers: Headers, body: bytes, timeout_s: float) -> Spoken:
        """Pass a request on that costs nothing, and return what was said.

        Raises:
            CallError: Nothing was said.
        """
        try:
            async with asyncio.timeout(timeout_s), await self._post(path, headers, body) as answer:
                return Spoken(answer.status, _told(answer.headers), await answer.read())
        except (TimeoutError, aiohttp.ClientError) as error:
            raise CallError(Failure.CONNECTION, f"no connection: {type(error).__name__}") from None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _attempt(self, passage: Passage, timeout_s: float) -> ChatReply:
        async with asyncio.timeout(timeout_s) as limit:
            answer = await self._post(passage.path, passage.headers, passage.body)
            async with answer:
                if answer.status >= 300:
                    raise await self._refusal(passage, answer)
                reading = Reading(self.service.wire, "event-stream" in answer.headers.get("content-type", ""))
                # Until the first byte a failure may be repeated without the program knowing.
                first = await answer.content.readany()
                limit.reschedule(None)
                await self._hand_on(passage, answer, first, reading)
        usage = reading.usage
        return ChatReply("", reading.end, Usage() if usage is None else usage)

    async def _refusal(self, passage: Passage, answer: aiohttp.ClientResponse) -> CallError:
        passage.spoken = Spoken(answer.status, _told(answer.headers), await answer.read())
        wait_s = retry_after_s(answer.headers, self._now())
        return classify(read_problem(answer.status, passage.spoken.content), wait_s)

    async def _hand_on(self, passage: Passage, answer: aiohttp.ClientResponse, first: bytes, reading: Reading) -> None:
        if not first and not reading.stream:
            raise CallError(Failure.SERVER, "the service's answer is empty")
        passage.begun = True
        await passage.begin(answer.status, _told(answer.headers))
        chunk = first
        try:
            while chunk:
                reading.feed(chunk)
                passage.complete = reading.complete
                await passage.write(chunk)
                chunk = await answer.content.readany()
        except (aiohttp.ClientError, TimeoutError) as error:
            if not passage.complete:
                raise _cut(f"{type(error).__name__}", reading) from None
        reading.finish()
        if not reading.complete:
            raise _cut(reading.error or "it ended before its last event", reading)

    async def _post(self, path: str, headers: Headers, body: bytes) -> aiohttp.ClientResponse:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=self._silence_s)
            self._session = aiohttp.ClientSession(
                timeout=timeout, connector=aiohttp.TCPConnector(limit=0), auto_decompress=True
            )
        passed = {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED}
        passed["Accept-Encoding"] = "identity"
        credential = await self.service.authorise()
        answer = await self._send(path, body, {**passed, **credential})
        # A token may end before its time; one that is let in no more says nothing about the login.
        if answer.status != 401 or not self.service.refuse(credential):
            return answer
        answer.release()
        return await self._send(path, body, {**passed, **await self.service.authorise()})

    async def _send(self, path: str, body: bytes, headers: Headers) -> aiohttp.ClientResponse:
        assert self._session is not None
        url = self.service.at(path)
        return await self._session.post(url, data=body, headers=headers, allow_redirects=False, proxy=_proxy(url))


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for a URL.

    aiohttp's own `trust_env` would also take passwords from `~/.netrc`, beside or instead of the credential.
    """
    parts = urlsplit(url)
    return None if parts.hostname is None or proxy_bypass(parts.hostname) else getproxies().get(parts.scheme)


def _cut(reason: str, reading: Reading) -> CallError:
    """Return the failure of an answer that broke off; only the program itself can ask again."""
    usage = reading.usage
    return CallError(
        Failure.BAD_REQUEST,
        f"the answer broke off: {reason}",
        cause=STREAM_CUT,
        usage=Usage() if usage is None else usage,
    )


def _told(headers: Headers) -> dict[str, str]:
    return {name: headers[name] for name in _TOLD if name in headers}


def asked_tokens(body: bytes) -> int:
    """Return an estimate of what a call asks for: four bytes a token, and its cap where it has one."""
    with suppress(ValueError):
        cap = json.loads(body).get("max_tokens")
        return len(body) // 4 + (cap if isinstance(cap, int) else 0)
    return len(body) // 4
