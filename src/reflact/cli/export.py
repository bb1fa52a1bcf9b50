"""`reflact export`: a trained skill for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflact.core.errors import ConfigError

FORMATS = ("agent-skill",)


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A complete run directory.")],
    form: Annotated[str, typer.Option("--format", help=f"What to write: {', '.join(FORMATS)}.")] = FORMATS[0],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder in which the skill's own folder is made.")] = Path(),
    name: Annotated[str, typer.Option("--name", help="The skill's name; by default made from the run's id.")] = "",
    description: Annotated[str, typer.Option("--description", help="What the skill is for, and when to use it.")] = "",
) -> None:
    """Write a run's best skill as an Agent Skills folder: `<out>/<name>/SKILL.md` with front matter."""
    from reflact.report.export import agent_skill, write_agent_skill

    if form not in FORMATS:
        raise ConfigError(f"--format {form} is not known: it takes {', '.join(FORMATS)}")
    skill = agent_skill(directory, name, description)
    folder = write_agent_skill(skill, out)
    typer.echo(str(folder / "SKILL.md"))
    if not description:
        typer.echo(
            "The description says little of when to use the skill; give a better one with --description.", err=True
        )
