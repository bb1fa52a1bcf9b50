"""`reflact local serve`: one loaded model for many runs at once."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Never, NoReturn

import typer

from reflact.cli.errors import say
from reflact.core.errors import ConfigError, ExitCode, ReflactError, Unavailable
from reflact.core.interrupts import ending
from reflact.models.local_weights import find_weights, require_runtime

if TYPE_CHECKING:
    from reflact.models.local_server import LocalServer, ServerSettings

VARIABLE = "REFLACT_LOCAL_TOKEN"
"""The variable that the commands which are printed use for the token."""

_CAP = 64
"""Tokens of a reply in those commands: without a cap, a small model that has lost its way writes until its context is
full, and all the others wait."""


def serve(
    path: Annotated[str, typer.Option(help="A GGUF file, as model.local_path; else the model that ships.")] = "",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")] = 8080,
    slots: Annotated[int, typer.Option(min=1, help="Calls worked on at once; others wait in line.")] = 4,
    context: Annotated[int, typer.Option(min=256, help="Tokens of context of each slot.")] = 2048,
    threads: Annotated[int, typer.Option(min=0, help="Threads; 0 takes the machine's cores.")] = 0,
    token_env: Annotated[str, typer.Option(help="Variable that holds the token; else one is made up.")] = "",
    expose: Annotated[bool, typer.Option("--expose", help="Listen beyond this machine, without encryption.")] = False,
) -> None:
    """Serve the model over the OpenAI API until Ctrl-C. For runs with harness=openai_chat."""
    from reflact.models.local_runtime import RuntimeSettings
    from reflact.models.local_server import ServerSettings, is_loopback, new_token, start

    if not expose and not is_loopback(host):
        raise ConfigError(
            f"--host {host} is reached from other machines: the token and all texts would cross the network in the "
            "clear. Add --expose if that is what you want, or leave --host out"
        )
    token = _given(token_env) if token_env else new_token()
    require_runtime()
    settings = ServerSettings(RuntimeSettings(find_weights(path), context, threads), host, port, slots, token)
    server = start(settings)
    file: Path | None = None
    try:
        if not token_env:
            file = _leave(server, token)
        _show(settings, server, token_env, file)
        _until_asked()
    except KeyboardInterrupt:
        ending(ExitCode.DONE)
        typer.echo("stopped")
    except ReflactError as error:
        say("reflact", str(error))
        _end(error.exit_code, file)
    _end(ExitCode.DONE, file)


def _end(code: ExitCode, file: Path | None) -> NoReturn:
    """End at once: the runtime's own end waits for calls in progress and connections that are open."""
    if file is not None:
        file.unlink(missing_ok=True)
    sys.stdout.flush()
    os._exit(int(code))


def _given(token_env: str) -> str:
    token = os.environ.get(token_env, "")
    if not token:
        raise ConfigError(f"--token-env {token_env}: the variable is empty or not set")
    return token


def _leave(server: LocalServer, token: str) -> Path:
    from reflact.models.local_server import write_token

    try:
        return write_token(os.environ, server.port, token)
    except OSError as error:
        raise Unavailable(
            f"the token cannot be left in your cache ({error.strerror or error}): give one yourself with --token-env"
        ) from error


def _show(settings: ServerSettings, server: LocalServer, token_env: str, file: Path | None) -> None:
    # Twice the slots in flight: none is idle between two calls, and runs share them evenly before they get in line.
    weights, slots = settings.runtime.weights, settings.slots
    at_once = "one call at a time" if slots == 1 else f"{slots} calls at a time"
    typer.echo(f"weights {weights.path}")
    typer.echo(f"sha256  {weights.sha256}")
    typer.echo(
        f"{settings.name} answers at {server.url}, {at_once}, {settings.runtime.context} tokens of context each, "
        "at temperature 0 unless a request says otherwise. Ctrl-C ends it."
    )
    typer.echo("\nIn another shell, for any number of runs at once:\n")
    if file is not None:
        typer.echo(f'  export {VARIABLE}="$(cat {shlex.quote(str(file))})"')
    typer.echo(
        "  reflact-train benchmark=orders harness=openai_chat model.teacher_backend=template \\\n"
        f"    model.student_base_url={server.url} model.student={settings.name} \\\n"
        f"    model.student_api_key_env={token_env or VARIABLE} limits.max_concurrent_requests={2 * slots} \\\n"
        f"    env.max_completion_tokens={_CAP}\n"
    )
    sys.stdout.flush()


def _until_asked() -> Never:
    """Wait for Ctrl-C or SIGTERM, which every command takes as Ctrl-C."""
    asked = threading.Event()
    while True:
        # Not without end: a signal that the system gives to a thread of the runtime does not wake this one.
        asked.wait(1.0)
