"""`reflact keys`: what every key of the configuration means."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from reflact.config.errors import unknown_key
from reflact.config.keys import Key, all_keys, show
from reflact.core.errors import ConfigError


def keys(word: Annotated[str, typer.Argument(help="Only keys whose name or meaning holds this.")] = "") -> None:
    """Explain the keys of the configuration: default, allowed values, meaning."""
    found = [key for key in all_keys().values() if word.lower() in f"{key.name} {key.doc}".lower()]
    if not found:
        raise ConfigError(unknown_key(word))
    typer.echo("\n".join(map(_entry, found)))


def _entry(key: Key) -> str:
    free = " May differ on resume." if key.free else ""
    text = f"{key.doc} Takes {key.allowed()}.{free}"
    return f"{key.name}={show(key.default)}\n{textwrap.indent(textwrap.fill(text, 92), '    ')}"
