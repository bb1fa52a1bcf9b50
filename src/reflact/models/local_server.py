"""One loaded model for many runs: llama.cpp's own HTTP server, which the runtime of `local` brings.

It speaks Chat Completions with streams, usage and JSON schemas, Responses, Messages and `/v1/models`; nothing of that
is written again here. A request waits in one line with all others, in the order in which they came.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflact.core.errors import ConfigError, Unavailable
from reflact.models.limit_folder import private_folder
from reflact.models.local_runtime import RuntimeSettings, import_runtime, load, parameters

_CONNECTIONS = 256
"""A connection that is kept open takes a thread of the server's, also between its requests. With the runtime's default
number, a client that comes late would wait five seconds and more for its first connection."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a server is started with.

    Attributes:
        runtime: Weights, tokens of context of a slot, threads.
        host, port: Where it listens; port 0 takes a free one.
        slots: Calls that are worked on at once; others wait in line.
        token: What a request must carry.
    """

    runtime: RuntimeSettings
    host: str
    port: int
    slots: int
    token: str = field(repr=False)

    @property
    def name(self) -> str:
        """The model's name; without dots, which part the keys of a configuration."""
        return self.runtime.weights.path.stem.replace(".", "-")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers.

    Attributes:
        url: The base URL for clients.
        port: The port that it has.
        handle: The runtime's object; the server lives as long as it does.
    """

    url: str
    port: int
    handle: Any = field(repr=False)


def start(settings: ServerSettings) -> LocalServer:
    """Load the model and serve it from threads of this process.

    Raises:
        ConfigError: The address cannot be listened at.
        Unavailable: The port is in use, or the model cannot be loaded.
    """
    _require_free(settings.host, settings.port)
    runtime = import_runtime()
    params = parameters(runtime, settings.runtime, settings.slots)
    params.hostnames = [settings.host]
    params.port = settings.port
    params.api_keys = [settings.token]
    params.model_alias = {settings.name}
    params.n_threads_http = _CONNECTIONS
    params.sampling.temp = 0.0
    params.ui = False
    params.endpoint_slots = False  # it would show what others ask
    handle = load(runtime, params, settings.runtime.weights)
    port = int(str(handle.listening_address).rsplit(":", 1)[1])
    return LocalServer(f"http://{_in_url(settings.host)}:{port}/v1", port, handle)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)


def write_token(environ: Mapping[str, str], port: int, token: str) -> Path:
    """Leave a token where this user alone can read it; returns the file.

    Raises:
        ConfigError: The folder is somebody else's or open to others.
        OSError: There is no home, or nothing can be made in it.
    """
    folder = private_folder(environ, "local-serve", "tokens of servers")
    path = folder / f"{port}.token"
    temporary = folder / f".{port}-{secrets.token_hex(4)}"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    temporary.replace(path)
    return path


def _require_free(host: str, port: int) -> None:
    """Find out before the model is loaded whether one can listen there: the runtime only says that it failed."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, number) as probe:
            # A port whose last server has just ended is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"port {port} of {host} is in use: give another one with --port, or take a free one with --port 0"
            ) from error
        raise ConfigError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from error


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
