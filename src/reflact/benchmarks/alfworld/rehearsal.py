"""Simulated replies and the hidden rules of a rehearsal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from reflact.core.hashing import digest
from reflact.core.types import Item, Rule

RULES = (
    Rule("Never search a place twice: keep a list of those that are done.", 0.15),
    Rule("After the second thing is put down, look at the place to count both.", 0.15, ("pick_two_obj_and_place",)),
    Rule(
        "Heating, cooling and cleaning work with the thing in hand; the appliance may stay closed.",
        0.15,
        ("pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep", "pick_clean_then_place_in_recep"),
    ),
    Rule("Switch the lamp on while the thing is in your hand.", 0.15, ("look_at_obj_in_light",)),
    Rule("Open a closed place before moving anything into it.", 0.10),
    Rule("If a command changed nothing, do not repeat it.", 0.08),
)
# No task is done by moving around and looking.
_HARMLESS = ("go to ", "look", "inventory")


def right_reply(walkthrough: Sequence[str], played: int) -> str:
    """Return the reply of a student who does the task: the walkthrough's next command."""
    if played >= len(walkthrough):
        return reply("look", "Everything is done.")
    return reply(walkthrough[played], "The next step of the plan.")


def wrong_reply(item: Item, turn: int, admissible: Sequence[str]) -> str:
    """Return the reply of a student who never gets anywhere; the same for the same arguments.

    It goes astray in the same way each time, so that the engine has to play it only once a sweep.
    """
    random = Random(digest(["alfworld", item.id, turn]))
    choices = [command for command in admissible if command.startswith(_HARMLESS)]
    return reply(random.choice(choices) if choices else "look", "Perhaps over there.")


def reply(command: str, thought: str) -> str:
    """Return a reply in the form that the prompt asks for."""
    return f"<think>{thought}</think>\n<action>{command}</action>"
