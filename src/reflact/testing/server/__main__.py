"""The scripted server as a process: prints its URL as the first line, then serves until it is told to end."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from reflact.testing.server.app import App, Settings, echo
from reflact.testing.server.host import serve
from reflact.testing.server.log import Exchange, RequestLog
from reflact.testing.server.script import ScriptError, read_script

_PARENT_CHECK_S = 0.25


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM, SIGINT, or the end of the parent process."""
    options = _parser().parse_args(argv)
    try:
        settings = _settings(options)
    except (OSError, ValueError) as error:
        kind = "" if isinstance(error, (ScriptError, OSError)) else "not JSON: "
        sys.stderr.write(f"{options.script}: {kind}{error}\n")
        return 2
    if options.log is None:
        asyncio.run(_serve(settings, options.port, None))
    else:
        with options.log.open("a", encoding="utf-8") as stream:
            asyncio.run(_serve(settings, options.port, stream))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reflact.testing.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--script", type=Path, help="JSON file with rules; without it the server echoes")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--require-auth", action="append", default=[], metavar="KEY", help="credential to accept")
    parser.add_argument("--model", action="append", default=[], help="name that /v1/models lists")
    parser.add_argument("--log", type=Path, help="append one JSON line per ended request to this file")
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    responder = read_script(json.loads(options.script.read_text("utf-8"))) if options.script else echo
    models = tuple(options.model) or ("gpt-5.5",)
    return Settings(responder, options.latency, tuple(options.require_auth), models)


async def _serve(settings: Settings, port: int, log: TextIO | None) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    app = App(settings, RequestLog(keep_text=False), stopping)
    if log is not None:
        app.ended = lambda exchange: _write(log, exchange)

    def ready(actual: int) -> None:
        sys.stdout.write(f"http://127.0.0.1:{actual}\n")
        sys.stdout.flush()

    watch = asyncio.create_task(_watch_parent(stopping, os.getppid()))
    await serve(app, port, ready)
    await watch


async def _watch_parent(stopping: asyncio.Event, parent: int) -> None:
    """Stop when the parent is gone: a test that was killed must not leave servers behind."""
    while not stopping.is_set():
        if os.getppid() != parent:
            stopping.set()
        try:
            await asyncio.wait_for(stopping.wait(), _PARENT_CHECK_S)
        except TimeoutError:
            continue


def _write(log: TextIO, exchange: Exchange) -> None:
    log.write(json.dumps(_line(exchange)) + "\n")
    log.flush()


def _line(exchange: Exchange) -> dict[str, Any]:
    seen = exchange.request
    return {
        "number": seen.number,
        "wire": seen.wire.value,
        "path": seen.path,
        "model": seen.model,
        "auth": seen.auth,
        "images": seen.images,
        "schema_name": seen.schema_name,
        "max_tokens": seen.max_tokens,
        "stream": seen.stream,
        "repeat": seen.repeat,
        "in_flight": exchange.in_flight,
        "started_s": exchange.started_s,
        "ended_s": exchange.ended_s,
        "status": exchange.status,
        "outcome": exchange.outcome,
    }


if __name__ == "__main__":
    sys.exit(main())
