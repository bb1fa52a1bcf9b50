"""The service behind the relay, read from the configuration and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from reflact.config.schema import Config
from reflact.models.agent_endpoints import resolve_agent_endpoint
from reflact.models.azure_auth import PROCESS_TOKENS, TokenSources
from reflact.models.endpoints import Endpoint
from reflact.models.protocol import ModelInfo
from reflact.relay.upstream import Service, Upstream
from reflact.relay.wires import Wire

WIRES = {"codex_exec": Wire.RESPONSES, "claude_code_exec": Wire.MESSAGES}


def connect_upstream(
    config: Config,
    settings: Mapping[str, Any],
    *,
    environ: Mapping[str, str] | None = None,
    tokens: TokenSources = PROCESS_TOKENS,
) -> Upstream:
    """Connect to the model of a student that is an agent program; a login is tried now.

    Args:
        config: The configuration.
        settings: What else is recorded of the student.
        environ: Where keys are looked up; None is the process's environment.
        tokens: Sources of tokens that may be shared.

    Raises:
        ConfigError: The endpoint is contradictory.
        Unavailable: No endpoint, key or login.
    """
    backend = config.model.student_backend
    endpoint = resolve_agent_endpoint(config, os.environ if environ is None else environ)
    service = _service(endpoint, WIRES[backend], tokens)
    info = ModelInfo(backend, config.model.student, endpoint.public_url, settings=settings)
    return Upstream(service, info, config.env.idle_timeout)


def _service(endpoint: Endpoint, wire: Wire, tokens: TokenSources) -> Service:
    url = endpoint.url.rstrip("/")
    query = f"api-version={quote(endpoint.api_version)}" if endpoint.api_version else ""
    if endpoint.auth == "api_key":
        headers = _key_headers(endpoint, wire)

        async def by_key() -> Mapping[str, str]:
            return headers

        return Service(url, wire, by_key, lambda: endpoint.secrets, query=query)
    source = tokens.source(endpoint.auth, endpoint.client_id)
    source.get()

    async def by_token() -> Mapping[str, str]:
        return {"Authorization": f"Bearer {await source.aget()}"}

    def refuse(headers: Mapping[str, str]) -> bool:
        return source.refuse(headers["Authorization"].removeprefix("Bearer "))

    return Service(url, wire, by_token, lambda: (*endpoint.secrets, source.shown), refuse, query, fleeting=True)


def _key_headers(endpoint: Endpoint, wire: Wire) -> Mapping[str, str]:
    if wire is Wire.MESSAGES:
        return {"x-api-key": endpoint.key}
    return {"api-key": endpoint.key} if endpoint.azure else {"Authorization": f"Bearer {endpoint.key}"}
