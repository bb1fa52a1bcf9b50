"""Carries out what a responder decided: an answer, an error, silence, or a cut connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from aiohttp import web

from reflact.testing.exchange import Fault, FaultKind, Reply, SeenRequest
from reflact.testing.server.problems import problem_of
from reflact.testing.server.wires.base import Problem, Tokens, WireFormat

_EVENTS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
# What a stream sends before it goes quiet: enough for a client to have read its beginning.
_FRAMES_BEFORE_TROUBLE = 3
_TRICKLE_BYTES = 1_000_000
_TRICKLE_PAUSE_S = 0.02


def json_response(status: int, body: Any, headers: dict[str, str] | None = None) -> web.Response:
    """Return a JSON response."""
    return web.Response(status=status, body=json.dumps(body).encode(), content_type="application/json", headers=headers)


@dataclass(frozen=True, slots=True)
class Sender:
    """Answers one request.

    Attributes:
        request: The HTTP request.
        seen: The same, read.
        wire: Its format.
        stopping: Set when the server stops, so that nothing hangs beyond it.
    """

    request: web.BaseRequest
    seen: SeenRequest
    wire: WireFormat
    stopping: asyncio.Event

    async def send(self, answer: Reply | Fault) -> web.StreamResponse:
        """Carry an answer or a fault out."""
        if isinstance(answer, Reply):
            return await self.reply(answer)
        problem = problem_of(answer, self.seen)
        if problem is not None:
            return self.problem(problem, answer)
        return await self._misbehave(answer)

    async def reply(self, reply: Reply) -> web.StreamResponse:
        """Send an answer, as events if they were asked for."""
        tokens = count(self.seen, reply)
        if not self.seen.stream:
            return json_response(200, self.wire.answer(self.seen, reply, tokens))
        frames = self.wire.events(self.seen, reply, tokens)
        response = await self._begin(dict(_EVENTS))
        # Without pauses one write is enough, and costs a fraction of many.
        for part in frames if reply.pause_s else [b"".join(frames)]:
            await response.write(part)
            await self._pause(reply.pause_s)
        await response.write_eof()
        return response

    def problem(self, problem: Problem, fault: Fault | None = None) -> web.Response:
        """Return an error response."""
        headers = {}
        if fault is not None and fault.retry_after_s is not None:
            headers["Retry-After"] = _retry_after(fault)
        if fault is not None and fault.body is not None:
            return web.Response(status=problem.status, text=fault.body, headers=headers)
        return json_response(problem.status, self.wire.error(problem), headers)

    async def _misbehave(self, fault: Fault) -> web.StreamResponse:
        match fault.kind:
            case FaultKind.HANG:
                await self.stopping.wait()
                return self._abort()
            case FaultKind.CUT:
                return self._abort()
            case FaultKind.EMPTY:
                return await self.reply(self._eaten())
            case FaultKind.MALFORMED:
                return await self._malformed(fault)
            case FaultKind.LYING_USAGE:
                lie = Reply(fault.text, prompt_tokens=0, completion_tokens=0, cached_tokens=1_000_000)
                return await self.reply(lie)
            case _:
                return await self._break_off(fault)

    async def _malformed(self, fault: Fault) -> web.StreamResponse:
        if not self.seen.stream:
            return web.Response(body=self._body(fault)[:-10], content_type="application/json")
        response = await self._begin(dict(_EVENTS))
        await response.write(b"data: {not json\n\n")
        await response.write_eof()
        return response

    async def _break_off(self, fault: Fault) -> web.StreamResponse:
        """Send a part, then go quiet or cut the connection."""
        if self.seen.stream:
            response = await self._begin(dict(_EVENTS))
            frames: Sequence[bytes] = self.wire.events(self.seen, Reply(fault.text), None)
            await response.write(b"".join(frames[:_FRAMES_BEFORE_TROUBLE]))
        else:
            body = self._body(fault)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body) + _TRICKLE_BYTES)}
            response = await self._begin(headers)
            await response.write(body[: len(body) // 2])
        if fault.kind is FaultKind.HANG_IN_BODY:
            await self.stopping.wait()
        if fault.kind is FaultKind.TRICKLE:
            await self._trickle(response)
        self._close_connection()
        return response

    async def _trickle(self, response: web.StreamResponse) -> None:
        """Send a byte now and then, so that a limit on silence never fires."""
        while not self.stopping.is_set():
            await response.write(b": still here\n\n" if self.seen.stream else b" ")
            await self._pause(_TRICKLE_PAUSE_S)

    def _body(self, fault: Fault) -> bytes:
        return json.dumps(self.wire.answer(self.seen, Reply(fault.text), None)).encode()

    def _eaten(self) -> Reply:
        cap = self.seen.max_tokens or 1024
        return Reply("", finish_reason="length", completion_tokens=cap, reasoning_tokens=cap)

    async def _begin(self, headers: dict[str, str]) -> web.StreamResponse:
        response = web.StreamResponse(headers=headers)
        await response.prepare(self.request)
        return response

    async def _pause(self, seconds: float) -> None:
        if seconds:
            await asyncio.sleep(seconds)

    def _abort(self) -> web.Response:
        """Drop the connection without a word; the response returned goes nowhere."""
        if self.request.transport is not None:
            self.request.transport.abort()
        return web.Response(status=500)

    def _close_connection(self) -> None:
        # `close`, not `abort`: what was written must still arrive.
        if self.request.transport is not None:
            self.request.transport.close()


def count(seen: SeenRequest, reply: Reply) -> Tokens | None:
    """Return the usage that a reply reports, None if it reports none."""
    if not reply.with_usage:
        return None
    prompt, completion = reply.prompt_tokens, reply.completion_tokens
    if prompt is None:
        prompt = estimate(seen)
    if completion is None:
        completion = max(1, len(reply.text) // 4) + reply.reasoning_tokens
    return Tokens(prompt, completion, reply.cached_tokens, reply.reasoning_tokens)


def estimate(seen: SeenRequest) -> int:
    """Return the tokens of a request: four characters each, and a thousand an image."""
    return max(1, sum(len(message.text) for message in seen.messages) // 4) + 1000 * seen.images


def _retry_after(fault: Fault) -> str:
    seconds = fault.retry_after_s or 0.0
    # A date has whole seconds: round up, or a client that obeys it comes too early.
    return formatdate(-(-(time.time() + seconds) // 1), usegmt=True) if fault.retry_after_as_date else f"{seconds:g}"
