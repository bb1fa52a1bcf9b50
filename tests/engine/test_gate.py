from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflact.engine.gate import Measured, Metric, PairedRule, PrefixBound, StrictRule, improvements_needed

scores = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1, allow_nan=False))


def skill(values: list[float], n: int | None = None) -> Measured:
    return Measured({f"i{k}": (value,) for k, value in enumerate(values)}, len(values) if n is None else n)


def test_strict_rejects_ties_and_takes_any_gain() -> None:
    rule = StrictRule()
    assert not rule.decide(skill([1, 0, 0]), skill([0, 1, 0])).accept
    assert rule.decide(skill([1, 1, 0]), skill([0, 1, 0])).accept
    assert not rule.decide(skill([0.25, 0.5, 0.0]), skill([0.75, 0.0, 0.0])).accept, "equal sums of partial credit"


def test_nothing_is_taken_while_coverage_is_low() -> None:
    verdict = StrictRule().decide(skill([1.0] * 14, n=20), skill([0.0] * 20))
    assert not verdict.accept
    assert verdict.detail["indecisive"] == "coverage 70%"
    assert StrictRule().decide(skill([1.0] * 19, n=20), skill([0.0] * 20)).accept


def test_only_items_scored_for_both_count() -> None:
    current = Measured({f"i{k}": (0.0,) for k in range(20)} | {"i0": (1.0,)}, 20)
    candidate = Measured({f"i{k}": (0.0,) for k in range(1, 20)}, 20)
    assert not StrictRule().decide(candidate, current).accept
    better = Measured({**candidate.by_item, "i5": (1.0,)}, 20)
    assert StrictRule().decide(better, current).accept, "the item that the candidate lacks does not count against it"


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40))
def test_the_paired_rule_is_the_exact_sign_test(pairs: list[tuple[float, float]]) -> None:
    candidate, current = [a for a, _ in pairs], [b for _, b in pairs]
    verdict = PairedRule(0.05).decide(skill(candidate), skill(current))
    moved = [a - b for a, b in pairs if a != b]
    up = sum(d > 0 for d in moved)
    tail = Fraction(sum(comb(len(moved), k) for k in range(up, len(moved) + 1)), 2 ** len(moved))
    gain = sum(Fraction(a) - Fraction(b) for a, b in pairs) > 0
    if abs(tail - Fraction(1, 20)) > Fraction(1, 10**9) and abs(sum(moved)) > 1e-9:
        assert verdict.accept == (gain and tail <= Fraction(1, 20))


@pytest.mark.parametrize(("n", "needed"), [(4, None), (5, 5), (18, 5)])
def test_how_many_improvements_the_paired_rule_needs(n: int, needed: int | None) -> None:
    assert improvements_needed(0.05, n) == needed


@settings(max_examples=400)
@given(
    rows=st.lists(st.tuples(scores, scores), min_size=1, max_size=30),
    order=st.randoms(use_true_random=False),
    metric=st.sampled_from([Metric("hard", 0.5), Metric("soft", 0.5)]),
)
def test_early_rejection_decides_as_the_whole_evaluation_would(rows, order, metric) -> None:  # type: ignore[no-untyped-def]
    candidate, current = [a for a, _ in rows], [b for _, b in rows]
    full = StrictRule().decide(skill(candidate), skill(current)).accept
    cuts = set()
    for _ in range(3):
        bound = PrefixBound(current)
        indices = list(range(len(rows)))
        order.shuffle(indices)
        fed = [bound.feed(index, candidate[index]) for index in indices]
        rejected = any(fed)
        assert rejected == (not full)
        cuts.add(bound.decided_at)
    assert len(cuts) == 1, "where it is decided does not depend on the order of completion"


def test_early_rejection_saves_rows() -> None:
    bound = PrefixBound([1.0] * 8 + [0.0] * 2)
    assert [bound.feed(k, 0.0) for k in range(3)] == [False, True, True]
    assert bound.decided_at == 2
