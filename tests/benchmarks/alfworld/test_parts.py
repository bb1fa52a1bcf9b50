"""Extraction, commands and prompts."""

from __future__ import annotations

import logging

import pytest

from reflact.benchmarks.alfworld.actions import find_action
from reflact.benchmarks.alfworld.dialogue import Dialogue, Prompts, split_intro
from reflact.benchmarks.alfworld.verbs import COMMANDS, missing_shapes, shape, shapes_of, unknown_shapes
from reflact.benchmarks.alfworld.watch import CommandWatch

from .support import DOMAIN, GRAMMAR

PROMPTS = Prompts.load("reflact.benchmarks.alfworld")


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("<think>a desk</think><action>go to desk 1</action>", "go to desk 1"),
        ("<ACTION>\n open drawer 2 \n</Action>", "open drawer 2"),
        ("<action>look</action> no: <action>inventory</action>", "inventory"),
        ("the tag <action> is used: <action>look</action>", "look"),
        ("<action>Go To  desk 1</action>", "Go To  desk 1"),
        ("<think>maybe <action>look</action></think><action>win</action>", "win"),
        ("<think>maybe <action>look</action></think>", None),
        ("<think>maybe <action>look</action> or", None),
        ("<action>look</action><think>was that right?", "look"),
        ("<action>look</action><think>to see where I am</think>", "look"),
        ("<action>look</action><think>not <action>win</action></think> so be it", "look"),
        ("maybe <action>win</action></think><action>look</action>", "look"),
        ("<think>in <think> tags: <action>win</action></think><action>look</action>", "look"),
        ("<action></action>", None),
        ("<action>  </action>", None),
        ("<action>go to", None),
        ("go to desk 1", None),
        ("", None),
        (None, None),
    ],
)
def test_the_last_action_tag_outside_the_thoughts_counts(reply: str | None, command: str | None) -> None:
    assert find_action(reply) == command


def test_a_game_knows_the_commands_of_actions_that_its_domain_has() -> None:
    assert shapes_of(DOMAIN, GRAMMAR % "x") == {"look", "go to", "move to"}


def test_commands_of_another_release_are_seen() -> None:
    now = frozenset(shape(form) for form in COMMANDS)
    assert (unknown_shapes(now), missing_shapes(now)) == ((), ())
    before = (now - {"move to"}) | {shape("put {o} in/on {r}"), "help"}
    assert (unknown_shapes(before), missing_shapes(before)) == (("put in/on",), ("move to",))


def test_the_intro_is_taken_apart() -> None:
    text = "-= Welcome to TextWorld, ALFRED! =-\n\nYou see a desk 1.\n\nYour task is to: find $5."
    assert split_intro(text) == ("You see a desk 1.", "find $5")
    assert split_intro("Only a room.") == ("Only a room.", "")
    assert split_intro("") == ("", "")


def test_the_first_prompt_shows_observation_and_commands() -> None:
    dialogue = Dialogue(PROMPTS, "# Skill\n- A rule.", "find $5")
    system, user = dialogue.messages("A $room.", ("go to desk 1", "help", "look"))
    assert all(form in system.content for form in COMMANDS) and "- A rule." in system.content
    for text in ("find $5", "A $room.", "go to desk 1\nlook"):
        assert text in user.content
    assert "help" not in user.content and "Steps taken" not in user.content


def test_later_prompts_show_the_last_two_steps() -> None:
    dialogue = Dialogue(PROMPTS, "", "win", [("saw a", "do a"), ("saw b", "do b"), ("saw c", "do c")])
    user = dialogue.messages("saw d", ("look",))[1].content
    assert "saw a" not in user and "Steps taken so far: 3" in user
    assert user.index("Step 2\nYou saw: saw b\nYou did: do b") < user.index("Step 3\nYou saw: saw c\nYou did: do c")
    assert user.index("do c") < user.index("saw d")


def test_many_commands_without_effect_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    watch = CommandWatch(bound=0.3, least=20)
    with caplog.at_level(logging.WARNING):
        watch.add(10, 10)
        assert not caplog.records
        watch.add(10, 0)
        watch.add(10, 5)
    (record,) = caplog.records
    assert "10 of 20 commands changed nothing (50%)" in record.getMessage()
    quiet = CommandWatch(bound=0.3, least=20)
    quiet.add(100, 30)
    assert not quiet.said
