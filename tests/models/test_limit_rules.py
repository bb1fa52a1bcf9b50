from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.models.limit_board import Board, Member, pack, unpack
from reflact.models.limit_rules import (
    FIRST_CEILING,
    TARDY_S,
    enter,
    forget_old,
    in_force,
    next_change,
    refused,
    settle,
    share_out,
    succeeded,
)

NOW = 6000.0


def _board(**members: Member) -> Board:
    return Board(members)


def _share(board: Board, me: str, wants: int, now: float = NOW, tokens: int = 10) -> tuple[int, list[str]]:
    return share_out(board, me, [tokens] * wants, now, 60.0)


def test_the_strictest_of_all_holds_and_zero_asks_for_nothing() -> None:
    rules = in_force(_board(a=Member(10, 0, 5000), b=Member(4, 600), c=Member()))
    assert (rules.concurrency, rules.requests, rules.tokens) == (4, 600, 5000)
    assert in_force(_board(a=Member())).none


def test_free_places_go_to_who_has_fewest_in_flight() -> None:
    board = _board(me=Member(10, in_flight=5), other=Member(10, in_flight=1, waiting=9, head=10))
    # Four are free: they bring the other one to five.
    assert _share(board, "me", 9) == (0, ["other"])
    board.members["other"].in_flight = 5
    board.members["me"].in_flight = 3
    assert _share(board, "me", 9) == (2, [])
    assert board.members["me"].in_flight == 5


def test_who_does_not_come_is_passed_over_and_not_rung_again() -> None:
    board = _board(me=Member(2, in_flight=1), other=Member(2, waiting=3, head=1))
    assert _share(board, "me", 2) == (0, ["other"])
    assert _share(board, "me", 2, NOW + TARDY_S / 2) == (0, [])
    assert _share(board, "me", 2, NOW + TARDY_S * 1.1) == (1, [])


def test_starts_are_shared_by_starts_however_long_calls_take() -> None:
    board = _board(slow=Member(0, 60, in_flight=30, served=30), quick=Member(0, 60, served=30, waiting=5, head=1))
    assert _share(board, "slow", 5)[0] == 5
    assert board.members["slow"].served == 35


def test_who_comes_back_has_no_claim_to_what_it_did_not_use() -> None:
    board = _board(busy=Member(0, 60, in_flight=1, served=1000), idle=Member(0, 60, served=3))
    assert enter(board, "idle", Member(0, 60, waiting=1)).served == 1000
    assert enter(board, "fresh", Member(0, 60, waiting=1)).served == 1000


def test_within_any_minute_there_are_never_more_than_allowed() -> None:
    board, now, starts = _board(me=Member(0, 7)), NOW, []
    while now < NOW + 400:
        forget_old(board, now, 60.0)
        starts += [now] * _share(board, "me", 100, now)[0]
        now += 0.37
    assert all(sum(at - 60 < other <= at for other in starts) <= 7 for at in starts)
    assert len(starts) >= 7 * 6


def test_tokens_that_were_not_used_are_given_back_and_a_giant_goes_alone() -> None:
    board = _board(me=Member(0, 0, 100))
    assert _share(board, "me", 3, tokens=60)[0] == 1
    settle(board, NOW, 50, 60.0)
    assert _share(board, "me", 3, tokens=60)[0] == 1
    assert _share(board, "me", 1, tokens=5000)[0] == 0
    assert next_change(board, NOW, 60.0) == pytest.approx(61, abs=1.01)
    forget_old(board, NOW + 62, 60.0)
    assert _share(board, "me", 1, NOW + 62, tokens=5000)[0] == 1


def test_nothing_starts_during_a_cool_down() -> None:
    board = _board(me=Member(), other=Member(waiting=1))
    board.cool_until = NOW + 5
    assert _share(board, "me", 3) == (0, [])
    assert next_change(board, NOW, 60.0) == 5.0
    assert next_change(board, NOW + 6, 60.0) == inf


def test_starts_from_another_clock_are_dropped() -> None:
    board = Board(buckets={int(NOW) + 500: [9, 9], int(NOW) - 1: [1, 1], 3: [5, 5]})
    forget_old(board, NOW, 60.0)
    assert list(board.buckets) == [int(NOW) - 1]


def test_the_ceiling_rises_fast_falls_once_an_event_and_then_rises_by_one_a_round() -> None:
    board = _board(me=Member(adaptive=True))
    succeeded(board, 0)
    assert board.ceiling == FIRST_CEILING
    succeeded(board, 3)
    assert board.ceiling == FIRST_CEILING, "what is not used proves nothing"
    board.members["me"].in_flight = 8
    succeeded(board, 4)
    assert board.ceiling == FIRST_CEILING + 4
    refused(board, NOW)
    low = board.ceiling
    assert low == pytest.approx(12 * 0.7)
    board.cool_until = NOW + 1
    refused(board, NOW + 0.5)
    assert board.ceiling == low, "a 429 of the same moment"
    succeeded(board, 8)
    assert low + 0.8 < board.ceiling < low + 1.1
    for step in range(40):
        refused(board, NOW + 2 + step)
    assert board.ceiling == 1.0 and in_force(board).concurrency == 1


_MEMBERS = st.builds(
    Member,
    st.integers(0, 20),
    st.integers(0, 500),
    st.integers(0, 9999),
    st.booleans(),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 500),
    st.integers(0, 99),
    st.sampled_from([0.0, NOW - 1, NOW]),
)


@given(st.dictionaries(st.sampled_from("abcde"), _MEMBERS), _MEMBERS, st.lists(st.integers(1, 900), max_size=20))
def test_no_limit_is_ever_passed(others: dict[str, Member], me: Member, heads: list[int]) -> None:
    board = Board({**others, "me": me})
    before = sum(one.in_flight for one in board.members.values())
    mine, bells = share_out(board, "me", heads, NOW, 60.0)
    rules = in_force(board)
    assert 0 <= mine <= len(heads) and "me" not in bells
    if mine:
        assert before + mine <= rules.concurrency and mine <= rules.requests
        assert sum(heads[:mine]) <= rules.tokens or mine == 1
    assert sum(one.in_flight for one in board.members.values()) == before + mine
    assert Board.from_bytes(board.to_bytes()) == board
    assert unpack(pack(3, board.to_bytes())) == (3, board.to_bytes())
