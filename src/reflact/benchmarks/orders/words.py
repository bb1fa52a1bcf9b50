"""Words and sentence frames of the orders task.

Each pool has 32 words; a quarter goes to train, a quarter to val and the rest to test, so that no part shares a
city, a ware or a name with another. The frames are shared: what carries over between parts is the form alone.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CITIES = _words(
    """Rome Paris Berlin Munich Warsaw London Bristol Glasgow Belfast Zurich Basel Nantes Calais Florence Genoa Malmo
    Aarhus Tampere Vilnius Sofia Zagreb Delhi Mumbai Nairobi Accra Dakar Bogota Santiago Dallas Seattle Toronto
    Sydney"""
)
WARES = _words(
    """cups tables pens jackets lamps pillows bowls ladders saucers wallets buttons hats belts ovens carpets curtains
    forks knives glasses mats magnets paddles pumps saddles stools tents trays violins whistles zippers envelopes
    rakes"""
)
NAMES = _words(
    """Adam Beth Carla David Elena Frank Gina Harold Irene Jack Karen Leo Monica Nick Olga Pedro Quentin Rachel Sam
    Tina Ursula Victor Wendy Xavier Yvonne Zoe Martin Laura George Helen Brian Nadia"""
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NUMBERS = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    11: "eleven",
    12: "twelve",
    14: "fourteen",
    18: "eighteen",
    20: "twenty",
    50: "fifty",
}
FRAMES = (
    "We would like to order {n} {ware} for {city}.",
    "Send {n} {ware} to {city}, please.",
    "{city} needs {n} {ware}.",
    "Our branch in {city} is asking for {n} {ware}.",
    "{name} from {city} wants {n} {ware}.",
    "Could you ship {n} {ware} to {city}?",
    "There are no {ware} left in {city}. We need {n}.",
    "Hello, this is {name}. I need {n} {ware} in {city}.",
    "{n} {ware} for the shop in {city}, please.",
    "{name} would like the {ware} sent to {city}, {n} of them.",
)
DUE_FRAMES = (
    "We would like to order {n} {ware} for {city}, to arrive on {day}.",
    "Send {n} {ware} to {city} by {day}, please.",
    "{city} needs {n} {ware} on {day}.",
    "By {day}, our branch in {city} wants {n} {ware}.",
    "{name} from {city} wants {n} {ware} on {day}.",
    "Could you ship {n} {ware} to {city} before {day}?",
    "There are no {ware} left in {city}. We need {n} by {day}.",
    "Hello, this is {name}. I need {n} {ware} in {city} on {day}.",
    "On {day}, {n} {ware} for the shop in {city}, please.",
    "{name} would like the {ware} sent to {city} on {day}, {n} of them.",
)
