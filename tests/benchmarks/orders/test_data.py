from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from reflact.benchmarks.orders.data import SEPARATOR, SIZES, make_items
from reflact.benchmarks.orders.words import CITIES, DUE_FRAMES, FRAMES, NAMES, NUMBERS, WARES
from reflact.core.names import Part
from reflact.core.types import Item

KINDS = [(size, due) for size in SIZES for due in (False, True)]


def words(items: tuple[Item, ...], pool: tuple[str, ...]) -> set[str]:
    said = set(re.findall(r"\w+", " ".join(item.question for item in items)))
    return {word for word in pool if word in said or word.capitalize() in said}


def fields(item: Item) -> list[str]:
    return item.gold[0].split(SEPARATOR)


@pytest.mark.parametrize(("size", "due"), KINDS)
class TestItems:
    def test_sizes(self, size: str, due: bool) -> None:
        assert {part: len(items) for part, items in make_items(size, due=due).items()} == SIZES[size]

    def test_the_same_arguments_give_the_same_items(self, size: str, due: bool) -> None:
        assert make_items(size, due=due) == make_items(size, due=due)
        assert make_items(size, due=due) != make_items(size, due=due, seed=1)

    def test_parts_share_no_city_ware_or_name(self, size: str, due: bool) -> None:
        parts = make_items(size, due=due)
        for pool in (CITIES, WARES, NAMES):
            for one, other in combinations(Part, 2):
                assert not words(parts[one], pool) & words(parts[other], pool)

    def test_no_sentence_twice(self, size: str, due: bool) -> None:
        questions = [item.question for items in make_items(size, due=due).values() for item in items]
        assert len(set(questions)) == len(questions)

    def test_records_say_what_the_sentences_say(self, size: str, due: bool) -> None:
        for items in make_items(size, due=due).values():
            for item in items:
                quantity, ware, city, *rest = fields(item)
                assert city in item.question
                assert re.search(rf"\b{ware}\b", item.question)
                shown = quantity if item.task_type == "digits" else NUMBERS[int(quantity)]
                assert re.search(rf"\b{shown}\b", item.question, re.IGNORECASE)
                assert len(rest) == due
                assert all(re.search(rf"\b{day.capitalize()}\w*day\b", item.question) for day in rest)

    def test_every_part_shows_nearly_all_frames(self, size: str, due: bool) -> None:
        frames = [_pattern(frame) for frame in (DUE_FRAMES if due else FRAMES)]
        for items in make_items(size, due=due).values():
            seen = Counter(
                next(n for n, frame in enumerate(frames) if frame.fullmatch(item.question)) for item in items
            )
            assert len(seen) == len(frames)
            assert max(seen.values()) - min(seen.values()) <= 2

    def test_quantities_come_in_digits_and_in_words(self, size: str, due: bool) -> None:
        for items in make_items(size, due=due).values():
            kinds = Counter(item.task_type for item in items)
            assert set(kinds) == {"digits", "words"}
            assert min(kinds.values()) >= len(items) // 5


def test_words_are_distinct() -> None:
    for pool in (CITIES, WARES, NAMES):
        assert len(set(pool)) == len(pool) == 32
    assert not {word.casefold() for word in CITIES} & {word.casefold() for word in (*WARES, *NAMES)}


def _pattern(frame: str) -> re.Pattern[str]:
    text = re.sub(r"\\{\w+\\}", r"\\w+", re.escape(frame))
    return re.compile("Order: " + text, re.IGNORECASE)
