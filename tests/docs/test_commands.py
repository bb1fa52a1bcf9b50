"""Every command of ours that a page shows is one that the programs take: overrides compose, options exist."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode

from reflact.cli.examples import EXAMPLES
from reflact.cli.main import application
from reflact.config.check import check
from reflact.config.compose import Composer, typed
from reflact.config.overrides import accepted
from tests.docs.markdown import TOP, blocks, own_commands, pages

SHOWN = [
    pytest.param(command, id=f"{block.place} {' '.join(command)[:60]}")
    for page in pages()
    for block in blocks(page)
    if block.language in ("", "sh", "bash", "console") and block.note("exit code") != "2"  # shown because it is wrong
    for command in own_commands(block)
]
LEFT_OPEN = "..."
"""Stands for overrides of the reader's own."""


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer()


@pytest.fixture(scope="module")
def reflact_command() -> Any:
    return typer.main.get_command(application())


def test_the_pages_show_commands() -> None:
    assert len(SHOWN) > 60


@pytest.mark.parametrize("command", SHOWN)
def test_a_command_of_a_page_is_taken(command: list[str], composer: Composer, reflact_command: Any) -> None:
    overrides = parsed(reflact_command, command) if command[0] == "reflact" else hydra_overrides(command[1:])
    composed(composer, overrides, sweep=command[0] != "reflact" and bool({"-m", "--multirun"} & set(command)))


@pytest.mark.parametrize("command", EXAMPLES, ids=lambda name: name or "reflact")
def test_examples_of_the_help_are_taken(command: str, composer: Composer, reflact_command: Any) -> None:
    import shlex

    text = "\n".join(EXAMPLES[command]).replace("\\\n", " ")
    for line in text.splitlines():
        words = shlex.split(line)
        assert words[0] == "reflact" and " ".join(words[1:]).startswith(command.partition(" ")[0])
        composed(composer, parsed(reflact_command, words), sweep=False)


def parsed(command: Any, words: list[str]) -> list[str]:
    """Let a command parse its words, without doing anything; return the overrides among them."""
    if words[1:] == ["--version"]:
        return []
    context = command.make_context("reflact", words[1:])
    while getattr(command, "commands", None) and context._protected_args:
        name, rest = context._protected_args[0], list(context.args)
        command = command.commands[name]
        context = command.make_context(name, rest, parent=context)
    return list(context.params.get("overrides") or [])


def hydra_overrides(arguments: list[str]) -> list[str]:
    given, unknown = get_args_parser().parse_known_args(arguments)
    assert unknown == []
    return list(given.overrides)


def composed(composer: Composer, overrides: list[str], sweep: bool) -> None:
    """Compose overrides as the programs do; of a sweep over values, each job."""
    lines = [accepted(line) for line in overrides if line != LEFT_OPEN]
    if not sweep:
        check(typed(composer.raw(lines, mode=RunMode.RUN)))
        return
    composer.raw(lines, mode=RunMode.MULTIRUN)
    if any(line.lstrip("+").startswith("sweep=") for line in lines):
        return  # a plan; what it consists of is tested where plans are
    for jobs in BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(lines), max_batch_size=None):
        for job in jobs:
            check(typed(composer.raw(job, mode=RunMode.RUN)))


def test_the_index_of_commands_is_whole(reflact_command: Any) -> None:
    text = (TOP / "docs/reference-commands.md").read_text(encoding="utf-8")
    for name in reflact_command.commands:
        assert f"## reflact {name}\n" in text
