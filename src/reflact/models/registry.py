"""Backends by name: entry points in the group `reflact.models`."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.names import Role
from reflact.models.protocol import ChatModel

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


def _no_backend(key: str, name: str, known: list[str]) -> str:
    if name in _OTHERS:
        return f"{key}={name}: {_OTHERS[name]}; chat backends: {', '.join(known)}"
    near = get_close_matches(name, known, n=2, cutoff=0.5)
    guess = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{key}={name}: no such backend{guess} Installed: {', '.join(known)}"
