from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from reflact.engine.stats import bootstrap_mean, mcnemar, mean, wilson


@settings(max_examples=60)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_an_independent_implementation(case: tuple[int, int]) -> None:
    k, n = case
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    interval = wilson(k, n)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), max_size=60))
def test_mcnemar_agrees_with_the_binomial_test(pairs: list[tuple[float, float]]) -> None:
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    gained, lost = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    if gained + lost == 0:
        assert mcnemar(before, after) is None
    else:
        assert mcnemar(before, after) == pytest.approx(binomtest(gained, gained + lost).pvalue)


def test_the_bootstrap_is_reproducible_and_brackets_the_mean() -> None:
    values = [0.0, 0.35, 0.75, 1.0] * 10
    first, second = bootstrap_mean(values), bootstrap_mean(values)
    assert first == second
    assert first is not None
    assert first.low < 0.525 < first.high
    assert bootstrap_mean([]) is None


def test_partial_credit_is_not_cut() -> None:
    assert mean([0.0, 0.35, 0.75, 1.0]) == 0.525
    assert mean([]) is None
    assert wilson(0, 0) is None
