"""What there is in made rooms, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass

_TYPE_NAMES = {
    "alarmclock": "AlarmClock",
    "cd": "CD",
    "cellphone": "CellPhone",
    "coffeetable": "CoffeeTable",
    "countertop": "CounterTop",
    "creditcard": "CreditCard",
    "desklamp": "DeskLamp",
    "diningtable": "DiningTable",
    "floorlamp": "FloorLamp",
    "keychain": "KeyChain",
    "remotecontrol": "RemoteControl",
    "sidetable": "SideTable",
    "sinkbasin": "SinkBasin",
    "tvstand": "TVStand",
}
OPENABLE = frozenset({"cabinet", "drawer", "fridge", "microwave", "safe"})
LAMPS = ("desklamp", "floorlamp")
CLEANABLE = frozenset({"apple", "bowl", "cup", "fork", "lettuce", "mug", "plate", "potato", "spatula", "tomato"})
HEATABLE = frozenset({"apple", "bread", "cup", "egg", "mug", "plate", "potato", "tomato"})
COOLABLE = frozenset({"apple", "bowl", "bread", "cup", "egg", "lettuce", "mug", "plate", "potato", "tomato"})


@dataclass(frozen=True, slots=True)
class Furnishing:
    """A kind of room.

    Attributes:
        places: Kinds of places with the least and the greatest number of each.
        things: Kinds of things that lie about.
        targets: Kinds of places to which things are brought.
        lamp_places: Kinds of places on which a lamp may stand.
    """

    places: tuple[tuple[str, int, int], ...]
    things: tuple[str, ...]
    targets: tuple[str, ...]
    lamp_places: tuple[str, ...] = ()


KITCHEN = Furnishing(
    places=(
        ("cabinet", 2, 4),
        ("countertop", 1, 2),
        ("diningtable", 1, 1),
        ("drawer", 1, 2),
        ("fridge", 1, 1),
        ("microwave", 1, 1),
        ("sinkbasin", 1, 1),
    ),
    things=tuple(sorted(CLEANABLE | HEATABLE | COOLABLE)),
    targets=("cabinet", "countertop", "diningtable", "drawer", "fridge"),
)
LIVING = Furnishing(
    places=(
        ("coffeetable", 1, 1),
        ("desk", 1, 1),
        ("drawer", 2, 4),
        ("safe", 1, 1),
        ("shelf", 1, 3),
        ("sidetable", 1, 2),
        ("tvstand", 1, 1),
    ),
    things=(
        "alarmclock",
        "book",
        "cd",
        "cellphone",
        "creditcard",
        "keychain",
        "pen",
        "pencil",
        "remotecontrol",
        "watch",
    ),
    targets=("coffeetable", "desk", "drawer", "safe", "shelf", "sidetable"),
    lamp_places=("coffeetable", "desk", "sidetable"),
)


def type_name(kind: str) -> str:
    """Return a kind's name in PDDL types and folder names."""
    return _TYPE_NAMES.get(kind, kind.capitalize())
