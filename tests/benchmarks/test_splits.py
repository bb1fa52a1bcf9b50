from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.splits import assign, fingerprint, part_sizes
from reflact.core.errors import ConfigError, DataError
from reflact.core.names import Part
from reflact.core.types import Item


@pytest.mark.parametrize(
    ("n", "split", "sizes"),
    [
        (177, "1shot", (1, 1, 175)),
        (177, "1-1-8", (18, 18, 141)),
        (177, "2-1-7", (35, 18, 124)),
        (177, "4-1-5", (71, 18, 88)),
        (5349, "1shot", (1, 1, 5347)),
        (5349, "1-1-8", (535, 535, 4279)),
        (5349, "2-1-7", (1070, 535, 3744)),
        (5349, "4-1-5", (2140, 535, 2674)),
        (5349, "10pct", (107, 53, 374)),
        (2000, "2-1-7", (400, 200, 1400)),
        (400, "2-1-7", (80, 40, 280)),
    ],
)
def test_known_counts(n: int, split: str, sizes: tuple[int, int, int]) -> None:
    assert tuple(part_sizes(n, split).values()) == sizes


def half_up(value: Fraction) -> int:
    whole, rest = divmod(value, 1)
    return int(whole) + (rest >= Fraction(1, 2))


@given(st.integers(30, 10_000), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_sizes_are_shares_rounded_half_up_and_add_up(n: int, a: int, b: int, c: int) -> None:
    total = a + b + c
    sizes = part_sizes(n, f"{a}-{b}-{c}")
    assert sizes[Part.TRAIN] == half_up(Fraction(n * a, total))
    assert sizes[Part.VAL] == half_up(Fraction(n * b, total))
    assert sum(sizes.values()) == n


@given(st.integers(100, 400), st.sampled_from(["2-1-7", "1shot", "1-1-8", "4-1-5"]), st.integers(0, 99))
def test_parts_are_slices_of_one_shuffle(n: int, split: str, seed: int) -> None:
    parts = assign(range(n), split, seed)
    order = list(range(n))
    Random(seed).shuffle(order)
    assert [*parts[Part.TRAIN], *parts[Part.VAL], *parts[Part.TEST]] == order


def test_a_tenth_is_the_beginning_of_each_part() -> None:
    whole, tenth = assign(range(5349), "2-1-7"), assign(range(5349), "10pct")
    for part in Part:
        assert tenth[part] == whole[part][: len(whole[part]) // 10]


@pytest.mark.parametrize(("n", "split"), [(2, "1shot"), (2, "2-1-7"), (50, "10pct"), (0, "1-1-8")])
def test_an_empty_part_is_refused(n: int, split: str) -> None:
    with pytest.raises(DataError, match=f"split {split} of {n} items leaves a part empty|leaves a part empty"):
        part_sizes(n, split)


@pytest.mark.parametrize(
    ("split", "message"),
    [("2-1-", "did you mean 2-1-7"), ("1-shot", "did you mean 1shot"), ("", "known: 2-1-7"), ("2-0-8", "at least 1")],
)
def test_an_unknown_split_is_refused_with_the_nearest(split: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        part_sizes(100, split)


def test_a_fingerprint_depends_on_everything_in_the_items_and_on_their_order() -> None:
    base = Item("a", "q", ("g",), "t", {"k": 1})
    others = [
        Item("b", "q", ("g",), "t", {"k": 1}),
        Item("a", "Q", ("g",), "t", {"k": 1}),
        Item("a", "q", ("g", "h"), "t", {"k": 1}),
        Item("a", "q", ("g",), "u", {"k": 1}),
        Item("a", "q", ("g",), "t", {"k": 2}),
    ]
    assert len({fingerprint([item]) for item in [base, *others]}) == 6
    assert fingerprint([base, others[0]]) != fingerprint([others[0], base])
    assert fingerprint([base]) == fingerprint([Item("a", "q", ("g",), "t", {"k": 1})])
