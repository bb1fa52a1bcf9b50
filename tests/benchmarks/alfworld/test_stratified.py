"""The arithmetic of ALFWorld's splits."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.alfworld.stratified import assign, largest_remainder, part_counts
from reflact.benchmarks.alfworld.tasks import TASK_TYPES
from reflact.benchmarks.records import Record
from reflact.core.errors import ConfigError, DataError
from reflact.core.names import Part
from reflact.core.types import Item

CLEAN, SIMPLE, HEAT = "pick_clean_then_place_in_recep", "pick_and_place_simple", "pick_heat_then_place_in_recep"
COOL, LOOK, TWO = "pick_cool_then_place_in_recep", "look_at_obj_in_light", "pick_two_obj_and_place"
POOL = {CLEAN: 31, SIMPLE: 24, HEAT: 23, COOL: 21, LOOK: 18, TWO: 17}


def official(train: int = 100, seen: int = 30) -> list[Record]:
    counts = {"train": dict.fromkeys(POOL, train), "valid_seen": dict.fromkeys(POOL, seen), "valid_unseen": POOL}
    return [
        Record(Item(f"{split}/{kind}/{n}", "?", task_type=kind), {"official_split": split}, "")
        for split, kinds in counts.items()
        for kind, count in kinds.items()
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("split", "sizes"),
    [("2-1-7", (39, 18, 134)), ("1-1-8", (18, 18, 134)), ("1shot", (1, 1, 134)), ("4-1-5", (82, 18, 103))],
)
def test_the_known_sizes(split: str, sizes: tuple[int, int, int]) -> None:
    counts = part_counts(split, POOL)
    assert tuple(sum(counts[part].values()) for part in Part) == sizes
    parts, notes = assign(official(), split, 42)
    assert tuple(len(parts[part]) for part in Part) == sizes
    sources = {Part.TRAIN: "train", Part.VAL: "valid_seen", Part.TEST: "valid_unseen"}
    for part in Part:
        assert {record.data["official_split"] for record in parts[part]} == {sources[part]}
        assert Counter(record.item.task_type for record in parts[part]) == {
            kind: n for kind, n in counts[part].items() if n
        }
    assert notes["pool"] == {"train": 600, "valid_seen": 180, "valid_unseen": 134}


def test_the_mix_of_types_is_the_test_pools() -> None:
    counts = part_counts("2-1-7", POOL)
    assert counts[Part.TRAIN] == {CLEAN: 9, SIMPLE: 7, HEAT: 7, COOL: 6, LOOK: 5, TWO: 5}
    assert counts[Part.VAL] == {CLEAN: 4, SIMPLE: 3, HEAT: 3, COOL: 3, LOOK: 3, TWO: 2}
    assert part_counts("1shot", POOL)[Part.TRAIN] == {CLEAN: 1}
    assert part_counts("4-1-5", POOL)[Part.VAL] == {CLEAN: 4, SIMPLE: 3, HEAT: 3, COOL: 3, LOOK: 3, TWO: 2}


@given(st.integers(1, 300), st.dictionaries(st.sampled_from(TASK_TYPES), st.integers(1, 50), min_size=1))
def test_largest_remainders_share_everything_out(size: int, weights: dict[str, int]) -> None:
    shares = largest_remainder(size, weights)
    assert sum(shares.values()) == size
    total = sum(weights.values())
    assert all(abs(shares[kind] - size * weights[kind] / total) < 1 for kind in weights)


def test_the_seed_decides_and_nothing_else() -> None:
    first, again, other = (assign(official(), "2-1-7", seed)[0] for seed in (42, 42, 7))
    ids = [[record.item.id for part in Part for record in parts[part]] for parts in (first, again, other)]
    assert ids[0] == ids[1] != ids[2]


def test_too_few_games_are_refused() -> None:
    with pytest.raises(DataError, match=f"train has too few games for this split: .*9 of {CLEAN}, 8 there"):
        assign(official(train=8), "2-1-7", 42)


@pytest.mark.parametrize("split", ["10pct", "3-3-3", "half"])
def test_other_splits_are_unknown(split: str) -> None:
    with pytest.raises(ConfigError, match=f"ALFWorld has no split '{split}': it knows 2-1-7, 1-1-8, 1shot, 4-1-5"):
        part_counts(split, POOL)
