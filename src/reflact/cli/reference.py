"""The page of the documentation about every command: `python -m reflact.cli.reference > docs/reference-commands.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from reflact.cli.examples import EXAMPLES
from reflact.cli.help import usage
from reflact.cli.main import COMMANDS, PROGRAM, application

HEAD = """\
# Reference: commands

<!-- Written by `python -m reflact.cli.reference`; change the commands in src/reflact/cli instead. -->

Every command explains itself with `--help`. `reflact-train` and `reflact-eval` are Hydra applications and take groups
and keys ([configuration.md](configuration.md), [reference-config.md](reference-config.md)); `reflact` has commands
around the runs. Exit codes are the same everywhere ([run-directory.md](run-directory.md#exit-codes)). Tab completion:
[howto/completion.md](howto/completion.md).
"""


def render() -> str:
    """Return the page."""
    root: Any = typer.main.get_command(application())
    lines = [HEAD]
    for program in ("reflact-train", "reflact-eval"):
        lines += [f"## {program}", "", "```text", usage(program).rstrip(), "```", ""]
    for command in COMMANDS:
        if command.name in root.commands:
            lines += _command(root.commands[command.name], (PROGRAM, command.name), 2)
    return "\n".join(lines).rstrip() + "\n"


def _command(command: Any, words: tuple[str, ...], level: int) -> Iterator[str]:
    below = getattr(command, "commands", {})
    yield f"{'#' * level} {' '.join(words)}"
    yield ""
    yield " ".join(command.help.split())
    yield ""
    rows = [_row(param) for param in command.params if param.name != "help" and not getattr(param, "hidden", False)]
    if rows:
        yield from ("| argument or option | default | meaning |", "|---|---|---|")
        yield from rows
        yield ""
    lines = EXAMPLES.get(" ".join(words[1:]), ()) if not below else ()
    if lines:
        yield from ("```sh", *lines, "```", "")
    for name in below:
        yield from _command(below[name], (*words, name), level + 1)


def _row(param: Any) -> str:
    """Return a parameter's row; what is told is independent of how this version of typer lays out its help."""
    if param.param_type_name == "argument":
        name = f"`{(param.metavar or param.name).strip('{}')}`"
    else:
        name = ", ".join(f"`{opt}`" for opt in sorted(param.opts, key=len, reverse=True))
        word = param.metavar or max(param.opts, key=len).lstrip("-").replace("-", "_").upper()
        name += "" if param.is_flag else f" `{word}`"
    default = "required" if param.required else _default(param)
    text = " ".join((param.help or "").split()).replace("|", "\\|").replace("<", "&lt;")
    return f"| {name} | {default} | {text} |"


def _default(param: Any) -> str:
    value = param.default
    if value is None or value is False or value == "" or callable(value):
        return ""
    return f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(render())
