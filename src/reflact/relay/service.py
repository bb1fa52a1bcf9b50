"""The relay itself: a server on loopback, a nonce for each item, and one way on."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from reflact.core.errors import ReflactError
from reflact.models.caller import Caller
from reflact.models.protocol import CallError, ChatReply
from reflact.relay.upstream import Passage, RelayedRequest, Upstream, asked_tokens
from reflact.relay.visit import Visit
from reflact.relay.wires import Kind, error_body, kind_of

_HOST = "127.0.0.1"
_SHUTDOWN_S = 1.0
_COUNT_S = 60.0
_LAST_S = 5.0
_GATEWAY_TIMEOUT, _UNAVAILABLE = 504, 503


class Relay:
    """Lets agent programs reach the model.

    A request is held before its headers while limits, pauses and repetitions last, since no program gives up on a
    service that has said nothing yet; after the first byte nothing is repeated here.

    Args:
        caller: Makes the calls: limits, attempts, usage, budget, events. Its model is an `Upstream`.
        upstream: That model.
        timeout_s: Seconds that one attempt may take to its first byte.
    """

    def __init__(self, caller: Caller, upstream: Upstream, timeout_s: float) -> None:
        self._caller = caller
        self._upstream = upstream
        self._wire = upstream.service.wire
        self._timeout_s = timeout_s
        self._visits: dict[str, Visit] = {}
        self._listening: list[asyncio.Server] = []
        self._shared: asyncio.Task[int] | None = None
        self._server: web.Server | None = None

    @staticmethod
    def new_nonce() -> str:
        """Return a name for an item that cannot be guessed."""
        return secrets.token_urlsafe(18)

    def admit(self, visit: Visit) -> None:
        """Let an item in."""
        self._visits[visit.nonce] = visit

    async def dismiss(self, visit: Visit) -> None:
        """Let an item in no more, and come back when what it asked for is booked."""
        visit.end()
        self._visits.pop(visit.nonce, None)
        if visit.open:
            await asyncio.wait([asyncio.create_task(_closed(visit))], timeout=_LAST_S)

    async def serve(self, listener: socket.socket) -> asyncio.Server:
        """Serve on a listening socket; whoever has the server closes it."""
        return await asyncio.get_running_loop().create_server(self._serving(), sock=listener)

    async def shared_port(self) -> int:
        """Return a port on the loopback of this machine, for programs without a network of their own."""
        if self._shared is None:
            self._shared = asyncio.create_task(self._listen())
        return await asyncio.shield(self._shared)

    async def aclose(self) -> None:
        """Stop listening and close all connections."""
        for listening in self._listening:
            listening.close()
        if self._server is not None:
            await self._server.shutdown(_SHUTDOWN_S)

    def _serving(self) -> web.Server:
        """Return the server, which belongs to the event loop that first needs it."""
        if self._server is None:
            # Without cancellation an answer would be paid for to its end although the program that asked is gone.
            self._server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        return self._server

    async def _listen(self) -> int:
        listening = await asyncio.get_running_loop().create_server(self._serving(), _HOST, 0)
        self._listening.append(listening)
        port: int = listening.sockets[0].getsockname()[1]
        return port

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        nonce, _, rest = request.path.lstrip("/").partition("/")
        visit = self._visits.get(nonce)
        if visit is None:
            return self._refused(404, "not_found_error", "there is nothing here")
        kind = kind_of(self._wire, request.method, f"/{rest}")
        if kind is None:
            return self._refused(403, "permission_error", "only calls to the model are let through")
        visit.alive()
        if kind is Kind.MODELS:
            return web.json_response({"object": "list", "data": [], "models": []})
        body = await request.content.read()
        parsed = _object(body)
        if parsed is None:
            return self._refused(400, "invalid_request_error", "the body is not a JSON object")
        suffix = f"?{request.query_string}" if request.query_string else ""
        path = self._wire.onward + ("/count_tokens" if kind is Kind.COUNT else "") + suffix
        if kind is Kind.COUNT:
            return await self._count(request, path, body)
        refused = visit.enter(parsed)
        if refused is not None:
            return self._refused(403, "permission_error", refused)
        return await self._call(_Answer(request, visit), visit, path, body)

    async def _call(self, answer: _Answer, visit: Visit, path: str, body: bytes) -> web.StreamResponse:
        passage = Passage(path, answer.request.headers, body, answer.begin, answer.write)
        asked = RelayedRequest(
            messages=(), max_completion_tokens=asked_tokens(body), timeout_s=self._timeout_s, passage=passage
        )
        visit.open += 1
        try:
            return await self._answered(answer, visit, passage, asked)
        finally:
            visit.open -= 1

    async def _answered(
        self, answer: _Answer, visit: Visit, passage: Passage, asked: RelayedRequest
    ) -> web.StreamResponse:
        try:
            reply = await self._asked(visit, passage, asked)
        except CallError as error:
            visit.usage += error.usage
            visit.failed(error)
            if passage.begun:
                visit.unknown += 1
                return answer.abort()
            return self._said(passage, error)
        except ReflactError as stop:
            visit.end(stop)
            return self._refused(_UNAVAILABLE, "api_error", "the run has to stop")
        except asyncio.CancelledError:
            visit.unknown += 1
            raise
        visit.usage += reply.usage
        visit.answers += 1
        visit.finish = reply.finish_reason
        if not reply.usage.tokens:
            visit.unknown += 1
        return await answer.end()

    async def _asked(self, visit: Visit, passage: Passage, asked: RelayedRequest) -> ChatReply:
        """Make the call; a program that leaves ends it, unless it left because it had all it wanted."""
        call = asyncio.create_task(
            self._caller.ask(asked, stage=visit.stage, phase=visit.phase, deadline=visit.budget, alone=visit.alone)
        )
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            if passage.complete:
                return await call
            call.cancel()
            await asyncio.wait([call])
            raise

    async def _count(self, request: web.BaseRequest, path: str, body: bytes) -> web.StreamResponse:
        try:
            spoken = await self._upstream.aside(path, request.headers, body, _COUNT_S)
        except CallError as error:
            return self._refused(_UNAVAILABLE, "api_error", str(error))
        return web.Response(status=spoken.status, headers=spoken.headers, body=spoken.content)

    def _said(self, passage: Passage, error: CallError) -> web.Response:
        """Say what the service said, word by word; where it said nothing, say that."""
        spoken = passage.spoken
        if spoken is not None and spoken.status == error.status:
            return web.Response(status=spoken.status, headers=spoken.headers, body=spoken.content)
        return self._refused(_GATEWAY_TIMEOUT, "api_error", str(error))

    def _refused(self, status: int, kind: str, message: str) -> web.Response:
        body = error_body(self._wire, kind, message)
        return web.Response(status=status, body=body, content_type="application/json")


@dataclass(slots=True)
class _Answer:
    """The way back to a program."""

    request: web.BaseRequest
    visit: Visit
    response: web.StreamResponse | None = None

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.response = web.StreamResponse(status=status, headers=headers)
        await self.response.prepare(self.request)

    async def write(self, chunk: bytes) -> None:
        assert self.response is not None
        self.visit.alive()
        await self.response.write(chunk)

    async def end(self) -> web.StreamResponse:
        assert self.response is not None
        with suppress(ConnectionResetError):  # a program may leave as soon as it has read the last event
            await self.response.write_eof()
        return self.response

    def abort(self) -> web.StreamResponse:
        """Cut the connection: a clean end would make half of an answer look whole."""
        assert self.response is not None
        if self.request.transport is not None:
            self.request.transport.abort()
        return self.response


async def _closed(visit: Visit) -> None:
    while visit.open:  # noqa: ASYNC110 - at most a few turns of the loop
        await asyncio.sleep(0.005)


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        parsed = json.loads(body)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
