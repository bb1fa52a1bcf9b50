"""From an HTTP request to a `SeenRequest`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from reflact.testing.exchange import SeenRequest, Wire
from reflact.testing.server.routes import Route
from reflact.testing.server.wires.base import Contents, WireFormat
from reflact.testing.server.wires.chat import ChatFormat
from reflact.testing.server.wires.messages import MessagesFormat
from reflact.testing.server.wires.responses import ResponsesFormat

_CREDENTIALS = ("authorization", "api-key", "x-api-key", "x-identity-header")


class BadBody(Exception):
    """A body that is not a JSON object of the format."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential as it was presented; only its fingerprint is kept."""

    kind: str = ""
    fingerprint: str = ""


@dataclass(slots=True)
class Reader:
    """Reads requests; counts calls and identical bodies."""

    formats: Mapping[Wire, WireFormat] = field(
        default_factory=lambda: {
            Wire.CHAT: ChatFormat(),
            Wire.RESPONSES: ResponsesFormat(),
            Wire.MESSAGES: MessagesFormat(),
            Wire.COUNT_TOKENS: MessagesFormat(),
        }
    )
    _calls: int = 0
    _bodies: Counter[bytes] = field(default_factory=Counter)

    def format_of(self, wire: Wire) -> WireFormat:
        """Return the format that answers and errors of a request take."""
        return self.formats.get(wire, self.formats[Wire.CHAT])

    def read(self, request: web.BaseRequest, route: Route, raw: bytes) -> SeenRequest:
        """Flatten a request.

        Raises:
            BadBody: The body is not what the format asks for.
        """
        headers = {name.lower(): value for name, value in request.headers.items()}
        credential = credential_of(headers)
        body: dict[str, Any] = {}
        contents = Contents()
        if route.wire in self.formats:
            body, contents = self._parse(route.wire, raw)
        number = repeat = 0
        if route.wire.is_call:
            self._calls += 1
            number = self._calls
            mark = hashlib.blake2b(raw, digest_size=16).digest()
            repeat = self._bodies[mark]
            self._bodies[mark] += 1
        return SeenRequest(
            number=number,
            wire=route.wire,
            method=request.method,
            path=request.path,
            query=dict(request.query),
            headers={name: value for name, value in headers.items() if name not in _CREDENTIALS},
            auth=credential.fingerprint,
            auth_kind=credential.kind,
            model=route.deployment or contents.model,
            messages=contents.messages,
            images=contents.images,
            schema=contents.schema,
            schema_name=contents.schema_name,
            max_tokens=contents.max_tokens,
            stream=contents.stream,
            tools=contents.tools,
            repeat=repeat,
            body=body,
        )

    def _parse(self, wire: Wire, raw: bytes) -> tuple[dict[str, Any], Contents]:
        try:
            body = json.loads(raw)
            if not isinstance(body, dict):
                raise BadBody("the body is not a JSON object")
            return body, self.formats[wire].read(body)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise BadBody(f"the body is not a {wire.value} request: {error}") from error


def fingerprint(credential: str) -> str:
    """Return the first 12 hex digits of a credential's sha256, as the log shows it."""
    return hashlib.sha256(credential.encode()).hexdigest()[:12]


def credential_of(headers: Mapping[str, str]) -> Credential:
    """Return the credential of a request, in the order in which services look for it."""
    bearer = headers.get("authorization", "")
    if bearer[:7].lower() == "bearer ":
        return Credential("bearer", fingerprint(bearer[7:].strip()))
    for name in ("api-key", "x-api-key"):
        if headers.get(name):
            return Credential(name, fingerprint(headers[name]))
    return Credential()
