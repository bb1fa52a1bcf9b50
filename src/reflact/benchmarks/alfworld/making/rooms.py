"""Rooms with a task, drawn by seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reflact.benchmarks.alfworld.making.kinds import (
    CLEANABLE,
    COOLABLE,
    HEATABLE,
    KITCHEN,
    LAMPS,
    LIVING,
    Furnishing,
)
from reflact.core.hashing import digest


@dataclass(frozen=True, slots=True)
class Entity:
    """A place or a thing: its kind and which one of that kind it is, from 1."""

    kind: str
    number: int

    @property
    def id(self) -> str:
        """The name in PDDL.

        The engine takes the kind from the text before the first `_bar_` and adds "basin" wherever that word occurs.
        """
        first = self.kind.removesuffix("basin")
        return f"{first}_bar_{self.number:02d}" + (f"_bar_{self.kind}" if first != self.kind else "")


@dataclass(frozen=True, slots=True)
class Room:
    """A room and what is to be done in it.

    Attributes:
        task_type: Kind of the task.
        target: Kind of the thing that the task is about.
        place: Kind of the place where it belongs; `""` for tasks about light.
        lamp: Kind of the lamp; `""` for all other tasks.
        places: All places.
        things: Where each thing lies.
    """

    task_type: str
    target: str
    place: str
    lamp: str
    places: tuple[Entity, ...]
    things: tuple[tuple[Entity, Entity], ...]

    def where(self, kind: str) -> list[tuple[Entity, Entity]]:
        """Return the things of a kind with their places."""
        return [(thing, place) for thing, place in self.things if thing.kind == kind]

    def first(self, kind: str) -> Entity:
        """Return the first place of a kind."""
        return next(place for place in self.places if place.kind == kind)


_TREATED = {
    "pick_clean_then_place_in_recep": CLEANABLE,
    "pick_heat_then_place_in_recep": HEATABLE,
    "pick_cool_then_place_in_recep": COOLABLE,
}
_LIGHT = "look_at_obj_in_light"
_TWO = "pick_two_obj_and_place"


def make_room(task_type: str, key: str, extra_places: int = 0) -> Room:
    """Draw a room; the same arguments give the same room.

    The task is never done from the start: no thing of the target's kind lies where it belongs.

    Args:
        task_type: Kind of the task.
        key: What the draw depends on.
        extra_places: Places beyond the usual ones, for rooms of the size of a house.
    """
    random = Random(digest([task_type, key]))
    kitchen = task_type in _TREATED or (task_type != _LIGHT and random.random() < 0.5)
    style = KITCHEN if kitchen else LIVING
    places = _places(style, random, extra_places)
    target = random.choice(sorted(_TREATED.get(task_type, frozenset(style.things))))
    place = "" if task_type == _LIGHT else random.choice(style.targets)
    lamp = random.choice(LAMPS) if task_type == _LIGHT else ""
    things = _things(style, random, places, target, place, 2 if task_type == _TWO else 1)
    if lamp:
        stands = random.choice([spot for spot in places if spot.kind in style.lamp_places])
        things = (*things, (Entity(lamp, 1), stands))
    return Room(task_type, target, place, lamp, places, things)


def _places(style: Furnishing, random: Random, extra: int) -> tuple[Entity, ...]:
    numbers = {kind: random.randint(least, most) for kind, least, most in style.places}
    for _ in range(extra):
        numbers[random.choice([kind for kind, _, most in style.places if most > 1])] += 1
    return tuple(Entity(kind, number) for kind in numbers for number in range(1, numbers[kind] + 1))


def _things(
    style: Furnishing, random: Random, places: tuple[Entity, ...], target: str, place: str, needed: int
) -> tuple[tuple[Entity, Entity], ...]:
    elsewhere = [spot for spot in places if spot.kind != place]
    spots = random.sample(elsewhere, needed)
    things = [(Entity(target, number), spot) for number, spot in enumerate(spots, start=1)]
    others = random.sample([kind for kind in style.things if kind != target], random.randint(2, 5))
    return (*things, *((Entity(kind, 1), random.choice(places)) for kind in others))
