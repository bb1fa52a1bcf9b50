"""`reflact azure-token`: a token for programs of one's own that ask a command for it."""

from __future__ import annotations

from typing import Annotated

import typer

from reflact.config.models import AUTH_MODES
from reflact.core.errors import ConfigError
from reflact.models.azure_auth import PROCESS_TOKENS

_MODES = tuple(mode for mode in AUTH_MODES if mode != "api_key")
_HELP = "Print a bearer token of Azure, for programs that take one from a command."

app = typer.Typer(help=_HELP, subcommand_metavar="")


@app.callback(invoke_without_command=True)
def azure_token(
    auth: Annotated[str, typer.Option(help=f"The login: {' or '.join(_MODES)}.")] = "azure_cli",
    client_id: Annotated[str, typer.Option(help="Client id of a user-assigned identity.")] = "",
) -> None:
    """Print a bearer token of Azure, for programs that take one from a command."""
    if auth not in _MODES:
        raise ConfigError(f"--auth {auth}: it takes one of {', '.join(_MODES)}")
    typer.echo(PROCESS_TOKENS.source(auth, client_id).get())
