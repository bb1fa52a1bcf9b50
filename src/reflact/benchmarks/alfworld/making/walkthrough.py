"""The commands that win a made game."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from reflact.benchmarks.alfworld.making.kinds import OPENABLE
from reflact.benchmarks.alfworld.making.rooms import Entity, Room

_TREATMENTS = {
    "pick_clean_then_place_in_recep": ("clean", "sinkbasin"),
    "pick_heat_then_place_in_recep": ("heat", "microwave"),
    "pick_cool_then_place_in_recep": ("cool", "fridge"),
}


def names(entities: Iterable[Entity]) -> dict[Entity, str]:
    """Return the names under which the engine shows entities: kind and a number.

    It sorts the ids of a kind and hands the numbers out from the highest down.
    """
    by_kind: dict[str, list[Entity]] = defaultdict(list)
    for entity in entities:
        by_kind[entity.kind].append(entity)
    return {
        entity: f"{kind} {len(same) - place}"
        for kind, same in by_kind.items()
        for place, entity in enumerate(sorted(same, key=lambda one: one.id))
    }


def walkthrough(room: Room) -> list[str]:
    """Return commands that do a room's task."""
    walk = _Walk(room)
    things = room.where(room.target)
    if room.lamp:
        ((lamp, stand),) = room.where(room.lamp)
        walk.fetch(*things[0])
        walk.go(stand)
        walk.say(f"use {walk.names[lamp]}")
        return walk.commands
    goal = room.first(room.place)
    for thing, place in things:
        walk.fetch(thing, place)
        if room.task_type in _TREATMENTS:
            verb, kind = _TREATMENTS[room.task_type]
            walk.go(room.first(kind))
            walk.say(f"{verb} {walk.names[thing]} with {walk.names[room.first(kind)]}")
        walk.go(goal)
        walk.open(goal)
        walk.say(f"move {walk.names[thing]} to {walk.names[goal]}")
    return walk.commands


class _Walk:
    """Commands so far, where they lead, and what they have opened."""

    def __init__(self, room: Room) -> None:
        self.commands: list[str] = []
        self.names = names([*room.places, *(thing for thing, _ in room.things)])
        self._at: Entity | None = None
        self._opened: set[Entity] = set()

    def say(self, command: str) -> None:
        self.commands.append(command)

    def go(self, place: Entity) -> None:
        if place != self._at:  # going where one is is not possible
            self.say(f"go to {self.names[place]}")
            self._at = place

    def open(self, place: Entity) -> None:
        if place.kind in OPENABLE and place not in self._opened:
            self.say(f"open {self.names[place]}")
            self._opened.add(place)

    def fetch(self, thing: Entity, place: Entity) -> None:
        self.go(place)
        self.open(place)
        self.say(f"take {self.names[thing]} from {self.names[place]}")
