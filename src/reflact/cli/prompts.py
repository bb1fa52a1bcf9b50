"""`reflact prompts`: the templates, and what a run's teacher was sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reflact.report.prompt_list import Template
    from reflact.report.replay import Call

app = typer.Typer(help="Show the prompts of the teacher and the student.", no_args_is_help=True)
Overrides = Annotated[list[str] | None, typer.Argument(metavar="[OVERRIDE]...", help="As for reflact-train.")]


@app.callback()
def group() -> None:
    """Show the prompts of the teacher and the student."""


@app.command("list")
def list_(overrides: Overrides = None) -> None:
    """List names, versions and hashes. Says which prompts the benchmark brings or replaces."""
    rows = [(t.role, t.name, t.version, t.sha256[:12], t.source) for t in _templates(overrides)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        typer.echo("  ".join([*cells, row[4]]).rstrip())


@app.command()
def show(
    overrides: Overrides = None,
    run: Annotated[Path | None, typer.Option(help="A run directory: show what its teacher was sent.")] = None,
    step: Annotated[int, typer.Option(min=1, help="With --run: the step.")] = 1,
    only: Annotated[str, typer.Option(help="Only prompts or calls whose name holds this.")] = "",
) -> None:
    """Print the templates, or what a teacher was sent.

    With --run and --step: the prompts of that step, built anew from the run's files.
    """
    if run is None:
        for template in _templates(overrides):
            if only in template.name:
                _print_template(template)
        return
    if overrides:
        raise typer.BadParameter("a run has its own configuration: give either overrides or --run")
    from reflact.report.replay import replay

    folder = f"steps/step_{step:04d}/"
    calls = [call for call in replay(run, step) if call.name.startswith(folder)]
    if not calls:
        raise typer.BadParameter(f"the teacher was sent nothing in step {step} of {run}", param_hint="--step")
    for call in sorted(calls, key=lambda call: call.name):
        if only in call.name:
            _print_call(call)


def _templates(overrides: Sequence[str] | None) -> list[Template]:
    from reflact.config.compose import compose
    from reflact.report.prompt_list import templates

    return templates(compose(overrides or []))


def _print_template(template: Template) -> None:
    typer.echo(
        f"=== {template.role}: {template.name}, version {template.version or 'none'}, "
        f"sha256 {template.sha256[:12]}, from {template.source}"
    )
    typer.echo(template.text.strip() + "\n")


def _print_call(call: Call) -> None:
    size = sum(len(message.content) for message in call.messages)
    sent = "as it was sent" if call.exact else "as a model would be sent it (the run's teacher or prompts differ)"
    typer.echo(f"=== {call.name}: {call.prompt}, stage {call.stage}, {size:,} characters, {sent}")
    for message in call.messages:
        typer.echo(f"--- {message.role}\n{message.content.strip()}\n")
