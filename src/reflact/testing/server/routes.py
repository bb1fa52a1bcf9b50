"""Which path speaks which format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from reflact.testing.exchange import Wire

_DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)(/.+)")
_ANTHROPIC = "/anthropic/v1"  # Claude on Azure
_BASES = (_ANTHROPIC, "/openai/v1", "/openai", "/v1", "")
_ENDINGS = {
    "/chat/completions": Wire.CHAT,
    "/responses": Wire.RESPONSES,
    "/messages": Wire.MESSAGES,
    "/messages/count_tokens": Wire.COUNT_TOKENS,
    "/models": Wire.MODELS,
}
_TOKEN_PATHS = ("/msi/token", "/metadata/identity/oauth2/token")


@dataclass(frozen=True, slots=True)
class Route:
    """Where a path leads.

    Attributes:
        wire: The format; `OTHER` for paths that do not exist.
        deployment: The Azure deployment in the path, `""` if there is none.
        wants_version: Azure refuses the path without `api-version`.
    """

    wire: Wire
    deployment: str = ""
    wants_version: bool = False


def find_route(method: str, path: str) -> Route:
    """Return where a request leads."""
    if path in _TOKEN_PATHS:
        return Route(Wire.TOKEN if method == "GET" else Wire.OTHER)
    found = _DEPLOYMENT.fullmatch(path)
    if found:
        wire = _ENDINGS.get(found[2], Wire.OTHER)
        route = Route(wire if wire is Wire.CHAT else Wire.OTHER, found[1], wants_version=True)
    else:
        base = next(base for base in _BASES if path.startswith(base))
        wire = _ENDINGS.get(path[len(base) :], Wire.OTHER)
        known = base != _ANTHROPIC or wire in (Wire.MESSAGES, Wire.COUNT_TOKENS)
        route = Route(wire if known else Wire.OTHER, wants_version=base == "/openai")
    expected = "GET" if route.wire is Wire.MODELS else "POST"
    return route if method == expected else Route(Wire.OTHER)


def lacks_version(route: Route, query: Mapping[str, str]) -> bool:
    """Whether Azure would refuse the request for want of an API version."""
    return route.wants_version and not query.get("api-version")
