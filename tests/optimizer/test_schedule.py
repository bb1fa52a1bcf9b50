"""The edit budget follows the schedule over the global step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.core.errors import ConfigError
from reflact.optimizer.schedule import edit_budget, resolve_floor


def budgets(scheduler: str, high: int, low: int, total: int) -> list[int]:
    return [edit_budget(scheduler, high, low, step, total) for step in range(1, total + 1)]


def test_null_floor_is_two_or_the_learning_rate_below_it() -> None:
    assert [resolve_floor(rate, None) for rate in (0, 1, 2, 4, 16)] == [0, 1, 2, 2, 2]


def test_an_explicit_floor_of_zero_is_kept() -> None:
    assert resolve_floor(4, 0) == 0


def test_a_floor_above_the_learning_rate_names_key_value_and_what_is_allowed() -> None:
    with pytest.raises(ConfigError, match=r"min_learning_rate=5.*learning_rate=4.*at most 4"):
        resolve_floor(4, 5)


def test_constant_stays() -> None:
    assert budgets("constant", 4, 2, 5) == [4] * 5


@pytest.mark.parametrize("scheduler", ["linear", "cosine"])
def test_four_to_two_over_four_steps_is_the_same_for_linear_and_cosine(scheduler: str) -> None:
    assert budgets(scheduler, 4, 2, 4) == [4, 3, 2, 2]


def test_ties_are_rounded_to_even() -> None:
    # 8 -> 1 over 14 steps passes 7.5, 6.5, 5.5 ...
    assert budgets("linear", 8, 1, 14) == [8, 7, 6, 6, 6, 5, 4, 4, 4, 3, 2, 2, 2, 1]


def test_longer_schedules() -> None:
    assert budgets("cosine", 16, 2, 8) == [15, 14, 12, 9, 6, 4, 3, 2]
    assert budgets("linear", 16, 2, 8) == [14, 12, 11, 9, 7, 6, 4, 2]


@pytest.mark.parametrize("scheduler", ["constant", "linear", "cosine"])
def test_a_run_of_one_step_takes_the_maximum(scheduler: str) -> None:
    assert edit_budget(scheduler, 8, 2, 1, 1) == 8


def test_an_unknown_scheduler_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="constant, linear, cosine"):
        edit_budget("step", 4, 2, 1, 4)


def test_a_step_outside_the_run_is_a_bug() -> None:
    with pytest.raises(ValueError, match="step 5 of 4"):
        edit_budget("linear", 4, 2, 5, 4)


@given(
    scheduler=st.sampled_from(["constant", "linear", "cosine"]),
    rates=st.tuples(st.integers(0, 64), st.integers(0, 64)).map(sorted),
    total=st.integers(1, 60),
)
def test_budgets_fall_from_at_most_the_maximum_to_at_least_the_floor(
    scheduler: str, rates: list[int], total: int
) -> None:
    low, high = rates
    values = budgets(scheduler, high, low, total)
    assert all(low <= value <= high for value in values)
    assert values == sorted(values, reverse=True)
