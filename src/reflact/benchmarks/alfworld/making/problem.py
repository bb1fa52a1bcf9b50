"""A room as a PDDL problem of ALFWorld's domain."""

from __future__ import annotations

from collections.abc import Iterator

from reflact.benchmarks.alfworld.making.kinds import CLEANABLE, COOLABLE, HEATABLE, LAMPS, OPENABLE, type_name
from reflact.benchmarks.alfworld.making.rooms import Room

# The domain's actions name these types as constants, so a problem without them is refused.
_PLACE_TYPES = ("FridgeType", "MicrowaveType", "SinkBasinType")
_THING_TYPES = ("ButterKnifeType", "KnifeType")
_STATES = {
    "pick_clean_then_place_in_recep": "(isClean ?thing)",
    "pick_heat_then_place_in_recep": "(isHot ?thing)",
    "pick_cool_then_place_in_recep": "(isCool ?thing)",
}
_SENTENCES = {
    "pick_and_place_simple": "bring a {thing} to a {place}",
    "pick_clean_then_place_in_recep": "rinse a {thing} and put it in or on a {place}",
    "pick_heat_then_place_in_recep": "heat a {thing} and put it in or on a {place}",
    "pick_cool_then_place_in_recep": "cool a {thing} down and put it in or on a {place}",
    "pick_two_obj_and_place": "gather two {thing}s in or on one {place}",
    "look_at_obj_in_light": "look at a {thing} in the light of the {lamp}",
}


def sentence(room: Room) -> str:
    """Return what is to be done, in words."""
    return _SENTENCES[room.task_type].format(thing=room.target, place=room.place, lamp=room.lamp)


def problem(room: Room, name: str) -> str:
    """Return the PDDL problem."""
    lines = [
        f"(define (problem {name})",
        " (:domain alfred)",
        " (:objects",
        *(f"  {line}" for line in _objects(room)),
        " )",
        " (:init",
        "  (= (total-cost) 0)",
        "  (atLocation me here)",
        *(f"  {line}" for line in _places(room)),
        *(f"  {line}" for line in _things(room)),
        *(f"  {line}" for line in _allowed(room)),
        " )",
        f" (:goal {_goal(room)})",
        " (:metric minimize (total-cost))",
        ")",
    ]
    return "\n".join(lines) + "\n"


def _objects(room: Room) -> Iterator[str]:
    yield "me - agent"
    yield "here - location"
    for name in sorted({f"{type_name(place.kind)}Type" for place in room.places} | {*_PLACE_TYPES}):
        yield f"{name} - rtype"
    for name in sorted({f"{type_name(thing.kind)}Type" for thing, _ in room.things} | {*_THING_TYPES}):
        yield f"{name} - otype"
    for place in room.places:
        yield f"{place.id} - receptacle"
        yield f"at_{place.id} - location"
    for thing, _ in room.things:
        yield f"{thing.id} - object"


def _places(room: Room) -> Iterator[str]:
    for place in room.places:
        yield f"(receptacleType {place.id} {type_name(place.kind)}Type)"
        yield f"(receptacleAtLocation {place.id} at_{place.id})"
        if place.kind in OPENABLE:
            yield f"(openable {place.id})"


def _things(room: Room) -> Iterator[str]:
    abilities = (("cleanable", CLEANABLE), ("heatable", HEATABLE), ("coolable", COOLABLE))
    for thing, place in room.things:
        yield f"(objectType {thing.id} {type_name(thing.kind)}Type)"
        yield f"(inReceptacle {thing.id} {place.id})"
        yield f"(objectAtLocation {thing.id} at_{place.id})"
        yield f"({'toggleable' if thing.kind in LAMPS else 'pickupable'} {thing.id})"
        for ability, kinds in abilities:
            if thing.kind in kinds:
                yield f"({ability} {thing.id})"


def _allowed(room: Room) -> Iterator[str]:
    for place in sorted({place.kind for place in room.places}):
        for thing in sorted({thing.kind for thing, _ in room.things} - {*LAMPS}):
            yield f"(canContain {type_name(place)}Type {type_name(thing)}Type)"


def _goal(room: Room) -> str:
    thing_type = f"{type_name(room.target)}Type"
    if room.lamp:
        return (
            f"(and (exists (?who - agent ?thing - object) (and (objectType ?thing {thing_type}) (holds ?who ?thing)))"
            " (exists (?who - agent ?lamp - object ?stand - receptacle ?spot - location)"
            f" (and (objectType ?lamp {type_name(room.lamp)}Type) (isToggled ?lamp) (toggleable ?lamp)"
            " (inReceptacle ?lamp ?stand) (receptacleAtLocation ?stand ?spot) (atLocation ?who ?spot))))"
        )
    place = f"(receptacleType ?place {type_name(room.place)}Type)"
    if room.task_type == "pick_two_obj_and_place":
        return (
            "(exists (?one - object ?other - object ?place - receptacle)"
            f" (and (not (= ?one ?other)) {place} (objectType ?one {thing_type}) (objectType ?other {thing_type})"
            " (inReceptacle ?one ?place) (inReceptacle ?other ?place)))"
        )
    state = _STATES.get(room.task_type, "")
    return (
        f"(exists (?thing - object ?place - receptacle) (and (objectType ?thing {thing_type}) {state}"
        f" {place} (inReceptacle ?thing ?place)))"
    )
