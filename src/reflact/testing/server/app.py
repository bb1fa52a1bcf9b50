"""The server's one handler: read, ask the responder, send, log."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web

from reflact.testing.exchange import Answer, Fault, FaultKind, Reply, Responder, SeenRequest, Wire
from reflact.testing.server.identity import token_reply
from reflact.testing.server.log import Exchange, RequestLog
from reflact.testing.server.problems import missing_route
from reflact.testing.server.reading import BadBody, Reader, fingerprint
from reflact.testing.server.routes import find_route, lacks_version
from reflact.testing.server.sending import Sender, estimate, json_response
from reflact.testing.server.wires.base import Problem


@dataclass(frozen=True, slots=True)
class Settings:
    """How a scripted server behaves.

    Attributes:
        responder: Decides about every model call.
        latency_s: Seconds before each answer that has no latency of its own.
        require_auth: Credentials that are accepted; empty accepts all, and none.
        models: Names that `GET /v1/models` lists.
        identity_token: What the managed-identity endpoints hand out.
    """

    responder: Responder
    latency_s: float = 0.0
    require_auth: tuple[str, ...] = ()
    models: tuple[str, ...] = ("gpt-5.5",)
    identity_token: str = "scripted-identity-token"


@dataclass(slots=True)
class App:
    """Handles requests in the event loop of the server.

    Attributes:
        settings: How to behave.
        log: Where exchanges are recorded.
        stopping: Ends everything that hangs.
        errors: What responders raised: bugs of a script, not faults.
        ended: Called with every exchange that has ended.
    """

    settings: Settings
    log: RequestLog
    stopping: asyncio.Event
    errors: list[BaseException] = field(default_factory=list)
    ended: Callable[[Exchange], None] | None = None
    _reader: Reader = field(default_factory=Reader)
    _accepted: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._accepted = frozenset(fingerprint(key) for key in self.settings.require_auth)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        started_s = time.monotonic()
        route = find_route(request.method, request.path)
        # Not `request.read()`: images may exceed its limit.
        raw = await request.content.read()
        wire = self._reader.format_of(route.wire)
        try:
            seen = self._reader.read(request, route, raw)
        except BadBody as error:
            return json_response(400, wire.error(Problem(400, str(error))))
        place = self.log.open(seen, started_s)
        outcome, status = "left", None
        try:
            sender = Sender(request, seen, wire, self.stopping)
            if route.wire is Wire.OTHER or lacks_version(route, seen.query):
                outcome, response = "refused", self._elsewhere(sender)
            elif not seen.wire.is_call and seen.wire is not Wire.COUNT_TOKENS:
                outcome, response = "answered", self._side(request, seen)
            elif self._accepted and seen.auth not in self._accepted:
                problem = Problem(401, "Incorrect API key provided.", code="invalid_api_key")
                outcome, response = "refused", sender.problem(problem)
            elif seen.wire is Wire.COUNT_TOKENS:
                outcome, response = "answered", json_response(200, {"input_tokens": estimate(seen)})
            else:
                answer = await self._decide(seen)
                named = answer.kind.value if isinstance(answer, Fault) else "answered"
                # A client may leave while an answer is on its way, but a hang or a cut ends in no other way.
                outcome = named if named in _ENDING_WITH_THE_CONNECTION else "left"
                response = await sender.send(answer)
                outcome = named
            status = None if outcome in (FaultKind.HANG, FaultKind.CUT) else response.status
            return response
        finally:
            exchange = self.log.close(place, outcome, status)
            if self.ended is not None:
                self.ended(exchange)

    async def _decide(self, seen: SeenRequest) -> Answer:
        try:
            decided = self.settings.responder(seen)
            answer = await decided if inspect.isawaitable(decided) else decided
        except BaseException as error:
            if not isinstance(error, asyncio.CancelledError):
                self.errors.append(error)
            raise
        latency_s = self.settings.latency_s if answer.latency_s is None else answer.latency_s
        if latency_s:
            await asyncio.sleep(latency_s)
        return answer

    def _elsewhere(self, sender: Sender) -> web.StreamResponse:
        if sender.request.path == "/" and sender.request.method in ("GET", "HEAD"):
            return web.Response(text="")
        return sender.problem(missing_route(sender.request.path))

    def _side(self, request: web.BaseRequest, seen: SeenRequest) -> web.StreamResponse:
        if seen.wire is Wire.TOKEN:
            return json_response(*token_reply(seen, request.headers, self.settings.identity_token))
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "scripted"} for name in self.settings.models]
        # `models` is what Codex looks for in the same place.
        return json_response(200, {"object": "list", "data": data, "models": []})


_ENDING_WITH_THE_CONNECTION = (
    FaultKind.HANG,
    FaultKind.HANG_IN_BODY,
    FaultKind.TRICKLE,
    FaultKind.CUT,
    FaultKind.CUT_IN_BODY,
)


def echo(seen: SeenRequest) -> Reply:
    """The default responder: repeats the last user message."""
    return Reply(seen.user)
