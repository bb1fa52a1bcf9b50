"""Every command explains itself on one screen, with an example, and the reference says the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from reflact.cli import help as hydra_help
from reflact.cli.main import COMMANDS, application
from reflact.cli.reference import render
from tests.docs.markdown import TOP

LONGEST, WIDEST = 45, 100


def walk(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, (*words, name))


ROOT: Any = typer.main.get_command(application())
ALL = list(walk(ROOT))


def help_of(words: tuple[str, ...], width: int) -> str:
    command, context = ROOT, ROOT.make_context("reflact", ["status"], terminal_width=width, max_content_width=width)
    for word in words:
        command = command.commands[word]
        context = command.context_class(command, parent=context, info_name=word)
    return str(command.get_help(context))


def test_every_command_is_walked() -> None:
    assert {words[0] for words in ALL if words} == {command.name for command in COMMANDS}
    assert ("splits", "verify") in ALL and ("local", "install") in ALL


@pytest.mark.parametrize("words", ALL, ids=" ".join)
@pytest.mark.parametrize("width", [80, WIDEST])
def test_help_fits_a_screen_and_shows_an_example(words: tuple[str, ...], width: int) -> None:
    lines = help_of(words, width).splitlines()
    assert len(lines) <= LONGEST and max(map(len, lines)) <= width
    start = next(i for i, line in enumerate(lines) if line.strip() in ("Example:", "Examples:"))
    assert lines[start + 1].strip().startswith("reflact ")
    assert any(" ".join(["reflact", *words]) in line for line in lines[start:])


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_no_summary_of_a_command_is_cut_short(words: tuple[str, ...]) -> None:
    below = help_of(words, 80).partition("\nCommands:\n")[2]
    assert [line for line in below.splitlines() if line.endswith("...")] == []


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_says_what_each_option_does(words: tuple[str, ...]) -> None:
    command = ROOT
    for word in words:
        command = command.commands[word]
    assert command.help
    assert [param.name for param in command.params if not param.help] == []


@pytest.mark.parametrize("program", ["reflact-train", "reflact-eval"])
def test_the_help_of_the_applications_fits_a_screen(program: str) -> None:
    lines = hydra_help.text(program).splitlines()
    assert len(lines) <= LONGEST and max(map(len, lines)) <= 80
    assert any(line.startswith(f"  {program} ") for line in lines)


def test_the_reference_of_commands_is_up_to_date() -> None:
    hint = "run: python -m reflact.cli.reference > docs/reference-commands.md"
    assert (TOP / "docs/reference-commands.md").read_text(encoding="utf-8") == render(), hint
