"""Backends by name: entry points in the group `reflact.models`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.names import Role
from reflact.models.agent_endpoints import AGENTS, resolve_agent_endpoint
from reflact.models.endpoints import Endpoint, resolve_endpoint
from reflact.models.limits import LimitKey
from reflact.models.protocol import ChatModel, Sharing

GROUP = "reflact.models"
# Names that mean something else than a chat backend.
_OTHERS = {
    "template": "it writes its edits without a model, so there is nothing to connect to",
    "codex_exec": "it is a harness for students, not a chat backend",
    "claude_code_exec": "it is a harness for students, not a chat backend",
}


def backends() -> dict[str, EntryPoint]:
    """Return the entry points of all chat backends that are installed."""
    return {point.name: point for point in entry_points(group=GROUP)}


def connect_role(config: Config, role: Role) -> ChatModel:
    """Connect to a role's model with the backend that the configuration names.

    Raises:
        ConfigError: There is no such backend.
        Unavailable: Its endpoint, credential or program is missing.
    """
    key = f"model.{role}_backend"
    name: str = getattr(config.model, f"{role}_backend")
    found = backends()
    if name not in found:
        raise ConfigError(_no_backend(key, name, sorted(found)))
    try:
        connect: Callable[[Config, Role], ChatModel] = found[name].load()
    except ImportError as error:
        raise ConfigError(f"{key}={name}: the backend cannot be imported: {error}") from error
    return connect(config, role)


def connect_beside(config: Config, role: Role, other: ChatModel) -> ChatModel:
    """Connect to a role's model like `connect_role`, sharing with a model of the same backend what that has loaded.

    Raises:
        ConfigError: There is no such backend.
        Unavailable: Its endpoint, credential or program is missing.
    """
    if other.info.backend == getattr(config.model, f"{role}_backend") and isinstance(other, Sharing):
        beside: ChatModel = other.beside(config, role)
        return beside
    return connect_role(config, role)


def endpoint_of(config: Config, role: Role, environ: Mapping[str, str] | None = None) -> Endpoint | None:
    """Return where a role's calls go and what opens the door; None for what runs in this process.

    Raises:
        ConfigError: The endpoint is contradictory.
        Unavailable: There is none, or its key is not in the environment.
    """
    backend: str = getattr(config.model, f"{role}_backend")
    given = os.environ if environ is None else environ
    if role is Role.STUDENT and backend in AGENTS:
        return resolve_agent_endpoint(config, given)
    return resolve_endpoint(config, role, given) if backend == "openai_chat" else None


def limit_key(config: Config, role: Role, environ: Mapping[str, str] | None = None) -> LimitKey:
    """Return what a role's calls share limits by: endpoint, deployment and the credential's fingerprint."""
    model: str = getattr(config.model, str(role))
    endpoint = endpoint_of(config, role, environ)
    if endpoint is None:
        return LimitKey(getattr(config.model, f"{role}_backend"), model)
    return LimitKey(endpoint.public_url, model, endpoint.credential)


def _no_backend(key: str, name: str, known: list[str]) -> str:
    if name in _OTHERS:
        return f"{key}={name}: {_OTHERS[name]}; chat backends: {', '.join(known)}"
    near = get_close_matches(name, known, n=2, cutoff=0.5)
    guess = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{key}={name}: no such backend{guess} Installed: {', '.join(known)}"
