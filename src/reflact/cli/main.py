"""`reflact`: the commands around the runs. Only the command that is called is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from reflact import __version__
from reflact.cli.errors import guarded
from reflact.cli.examples import epilog
from reflact.cli.streams import ensure_streams
from reflact.cli.utf8 import ensure_utf8

PROGRAM = "reflact"


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, its module, and what the overview says of it.

    The module has a function of the command's name, or an `app` with commands below it.
    """

    name: str
    module: str
    summary: str


COMMANDS = (
    Command("status", "reflact.cli.status", "What every run under a folder is doing, from its files."),
    Command("tables", "reflact.cli.tables", "Recompile the result tables."),
    Command("plot", "reflact.cli.plot", "Figures for a paper: curves, axes, forest plot, cost."),
    Command("report", "reflact.cli.report", "One HTML file with curves, steps, skills and trajectories."),
    Command("diff", "reflact.cli.diff", "Compare two runs: configuration, skills, items."),
    Command("keys", "reflact.cli.keys", "Explain the keys of the configuration."),
    Command("doctor", "reflact.cli.doctor", "Check everything that must hold before money is spent."),
    Command("splits", "reflact.cli.splits", "Make and verify split folders."),
    Command("data", "reflact.cli.data", "Look at a benchmark's items."),
    Command("prompts", "reflact.cli.prompts", "Show the prompts of the teacher and the student."),
    Command("local", "reflact.cli.local", "Install and serve the small model that needs no key."),
    Command("azure-token", "reflact.cli.azure_token", "Print a bearer token for programs that ask a command for it."),
    Command("archive", "reflact.cli.archive", "Move a run directory out of the way."),
    Command("export", "reflact.cli.export", "Write a trained skill as an Agent Skills folder."),
)


def main() -> None:
    """Entry point."""
    ensure_streams()
    ensure_utf8()
    guarded(PROGRAM, lambda: build(sys.argv[1:])(prog_name=PROGRAM))


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"reflact {__version__}")
        raise typer.Exit


def build(arguments: Sequence[str]) -> Callable[..., None]:
    """Return the application with the commands that these arguments need; the others are there by name only."""
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    completing = any(name.startswith("_REFLACT") and name.endswith("COMPLETE") for name in os.environ)
    return application(lambda name: completing or name == called)


def application(mounted: Callable[[str], bool] = lambda _: True) -> typer.Typer:
    """Return the application; only the commands that are asked for are imported."""
    app = typer.Typer(
        help="reflact trains the skill, not the model. Runs are started with reflact-train and reflact-eval.",
        epilog=epilog(""),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for command in COMMANDS:
        if find_spec(command.module) is None:
            continue
        if mounted(command.name):
            _mount(app, command)
        else:
            app.command(command.name, help=command.summary)(_by_name_only)
    return app


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Nothing: the options act by themselves."""


def _by_name_only() -> None:
    raise AssertionError("the command that is called is mounted")


def _mount(app: typer.Typer, command: Command) -> None:
    module = import_module(command.module)
    if not hasattr(module, "app"):
        app.command(command.name, short_help=command.summary, epilog=epilog(command.name))(
            getattr(module, command.name)
        )
        return
    for below in module.app.registered_commands:
        below.epilog = epilog(f"{command.name} {below.name or below.callback.__name__}")
    app.add_typer(module.app, name=command.name, short_help=command.summary, epilog=epilog(command.name))


if __name__ == "__main__":
    main()
