"""A scripted server in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from reflact.testing.exchange import Responder
from reflact.testing.server.app import App, Settings, echo
from reflact.testing.server.log import Exchange, Matches, RequestLog

_HOST = "127.0.0.1"
_BACKLOG = 1024
# Handlers that hang are released by `stopping`; this is for sockets that nobody reads.
_SHUTDOWN_S = 1.0


class ResponderFailed(AssertionError):
    """A responder raised, so what the client saw was a bug of the script and not a scripted fault."""


class _CountingServer(web.Server):
    """Counts connections, which handlers alone cannot see."""

    log: RequestLog

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self.log.connected(1)

    def connection_lost(self, handler: Any, exc: BaseException | None = None) -> None:
        # aiohttp may report the end of a connection again at its shutdown.
        known = handler in self.connections
        super().connection_lost(handler, exc)
        if known:
            self.log.connected(-1)


async def serve(app: App, port: int, ready: Callable[[int], None]) -> None:
    """Serve until `app.stopping` is set.

    Args:
        app: What to serve.
        port: Port on 127.0.0.1, 0 for a free one.
        ready: Called with the port once connections are accepted.
    """
    # Cancelling a handler when its client leaves keeps the count of calls in flight true.
    server = _CountingServer(app.handle, handler_cancellation=True, access_log=None)
    server.log = app.log
    listening = await asyncio.get_running_loop().create_server(server, _HOST, port, backlog=_BACKLOG)
    try:
        ready(listening.sockets[0].getsockname()[1])
        await app.stopping.wait()
    finally:
        listening.close()
        # Wakes the handlers of idle connections; without it each of them takes the whole time-out.
        server.pre_shutdown()
        await server.shutdown(_SHUTDOWN_S)


class ScriptedServer:
    """A model server on 127.0.0.1 that does what a responder says.

    It speaks Chat Completions, Responses (plain and Azure paths), Anthropic Messages, and hands out
    managed-identity tokens. Use it as a context manager; it runs in a thread with an event loop of its own.

        with ScriptedServer(lambda request: Reply("42")) as server:
            client = OpenAI(base_url=server.base_url, api_key="none")
    """

    def __init__(
        self,
        responder: Responder | None = None,
        *,
        latency_s: float = 0.0,
        require_auth: str | tuple[str, ...] = (),
        models: tuple[str, ...] = ("gpt-5.5",),
        identity_token: str = "scripted-identity-token",
        port: int = 0,
        keep_text: bool = True,
    ) -> None:
        """Prepare a server; nothing is opened before the context is entered.

        Args:
            responder: Decides about every model call; None repeats the last user message.
            latency_s: Seconds before each answer that has no latency of its own.
            require_auth: Credential, or credentials, that are accepted; empty accepts everything.
            models: Names that `GET /v1/models` lists.
            identity_token: What the managed-identity endpoints hand out.
            port: Port to listen on, 0 for a free one.
            keep_text: Keep texts and bodies in the log.
        """
        accepted = (require_auth,) if isinstance(require_auth, str) else require_auth
        self.settings = Settings(responder or echo, latency_s, tuple(filter(None, accepted)), models, identity_token)
        self.log = RequestLog(keep_text)
        self._port = port
        self._errors: list[BaseException] = []
        self._started = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._errors and error is None:
            raise ResponderFailed(f"the responder raised {self._errors[0]!r}") from self._errors[0]

    def start(self) -> None:
        """Listen; return once connections are accepted. A server that was stopped listens on its former port.

        Raises:
            OSError: The port is taken.
        """
        self._started.clear()
        self._thread = threading.Thread(target=self._run, name="scripted-server", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._loop is None:
            self._thread.join()
            raise OSError(f"the scripted server could not listen on port {self._port}: {self._errors.pop()}")

    def stop(self) -> None:
        """Close all connections, whatever they wait for, and end the thread."""
        thread, loop, stopping = self._thread, self._loop, self._stopping
        if thread is None or loop is None or stopping is None:
            return
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        self._thread = self._loop = self._stopping = None

    @property
    def url(self) -> str:
        """The server's root; also the base URL of Anthropic clients."""
        return f"http://{_HOST}:{self._port}"

    @property
    def base_url(self) -> str:
        """The base URL of OpenAI-compatible clients."""
        return f"{self.url}/v1"

    @property
    def azure_endpoint(self) -> str:
        """The endpoint of Azure clients."""
        return self.url

    @property
    def identity_environment(self) -> dict[str, str]:
        """Environment variables that lead managed-identity credentials here (App Service form)."""
        return {"IDENTITY_ENDPOINT": f"{self.url}/msi/token", "IDENTITY_HEADER": "scripted"}

    def wait_for(
        self, n: int, *, ended: bool = False, matching: Matches | None = None, timeout_s: float = 10.0
    ) -> tuple[Exchange, ...]:
        """Wait until `n` model calls have come; see `RequestLog.wait_for`. Blocks the calling thread."""
        return self.log.wait_for(n, ended=ended, matching=matching, timeout_s=timeout_s)

    async def wait_for_async(
        self, n: int, *, ended: bool = False, matching: Matches | None = None, timeout_s: float = 10.0
    ) -> tuple[Exchange, ...]:
        """Wait like `wait_for` without blocking the event loop."""
        return await asyncio.to_thread(self.log.wait_for, n, ended=ended, matching=matching, timeout_s=timeout_s)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._errors.append(error)
        finally:
            self._started.set()

    async def _serve(self) -> None:
        stopping = asyncio.Event()
        app = App(self.settings, self.log, stopping, self._errors)

        def ready(port: int) -> None:
            self._port, self._loop, self._stopping = port, asyncio.get_running_loop(), stopping
            self._started.set()

        await serve(app, self._port, ready)
