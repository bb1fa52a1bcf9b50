from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.config.study import TrainConfig
from reflact.core.errors import ConfigError
from reflact.engine.batches import Schedule, make_schedule


def sizes(train: int, batch: int | str) -> list[int]:
    schedule = make_schedule(TrainConfig(batch_size=batch), train)
    return [len(batch.indices) for batch in schedule.micro_batches(1)]


@pytest.mark.parametrize(
    ("train", "batch", "expected"),
    [
        (35, 8, [8, 8, 8, 8, 3]),
        (35, 24, [24, 11]),
        (35, 40, [35]),
        (35, 56, [35]),
        (35, "full", [35]),
        (39, 8, [8, 8, 8, 8, 7]),
        (39, 24, [24, 15]),
        (39, "full", [39]),
    ],
)
def test_an_epoch_is_cut_in_slices_and_the_last_may_be_short(train: int, batch: int | str, expected: list[int]) -> None:
    assert sizes(train, batch) == expected


@given(
    train=st.integers(1, 60),
    batch=st.integers(1, 70),
    accumulation=st.integers(1, 5),
    epoch=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_one_epoch_is_exactly_one_pass(train: int, batch: int, accumulation: int, epoch: int, seed: int) -> None:
    schedule = Schedule(train, batch, accumulation, 6, seed)
    steps = [schedule.step(epoch, index) for index in range(schedule.steps_per_epoch)]
    drawn = [i for step in steps for micro in step for i in micro.indices]
    assert sorted(drawn) == list(range(train))
    assert all(step and all(micro.indices for micro in step) for step in steps), "no step and no micro-batch is empty"
    seeds = [micro.seed for step in steps for micro in step]
    assert seeds == [seed + 1000 * epoch + i + 1 for i in range(len(seeds))]


def test_train_size_is_zero_or_the_splits_size() -> None:
    assert make_schedule(TrainConfig(train_size=0), 35).train_size == 35
    assert make_schedule(TrainConfig(train_size=35), 35).train_size == 35
    with pytest.raises(ConfigError, match=r"train\.train_size=34.*35 items"):
        make_schedule(TrainConfig(train_size=34), 35)
