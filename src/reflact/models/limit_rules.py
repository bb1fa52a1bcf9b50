"""Who may start a request now: pure functions of the shared board and the time.

Requests and tokens of the last minute are kept by sixtieths of it and count until all of their piece is a minute old:
never more than the limit within any minute, at most a sixtieth less, and a state whose size does not grow.

Runs share evenly. Where only the number in flight is limited, whoever has fewest in flight is next; where starts are
limited, whoever was served least. To wake another process takes its time, in which a place stays empty; so among equals
a process lets its own requests start, until it is some requests ahead. A run whose turn it is gets a moment to come;
then the others go on without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf

from reflact.models.limit_board import Board, Member

PIECES = 60
TARDY_S = 0.15
"""Who was told that it may start and did not come within this time is passed over."""

_AHEAD = 8  # requests that one may be ahead of its equals where there are many
_MANY = 64

FIRST_CEILING = 8.0
_CUT = 0.7


@dataclass(frozen=True, slots=True)
class InForce:
    """The strictest of what all members ask for; infinite where nobody asks."""

    concurrency: float
    requests: float
    tokens: float

    @property
    def none(self) -> bool:
        """Whether nothing is limited."""
        return self.concurrency == self.requests == self.tokens == inf


@dataclass(slots=True)
class _Place:
    """A member in line; of others only the first request is known, so all of theirs are taken to be like it."""

    name: str
    in_flight: int
    served: int
    heads: Sequence[int]
    head: int
    left: int


def in_force(board: Board) -> InForce:
    """Return the limits that hold for everybody."""
    members = board.members.values()
    concurrency = min((one.concurrency for one in members if one.concurrency), default=inf)
    if board.ceiling and any(one.adaptive for one in members):
        concurrency = min(concurrency, floor(board.ceiling))
    return InForce(
        concurrency,
        min((one.requests for one in members if one.requests), default=inf),
        min((one.tokens for one in members if one.tokens), default=inf),
    )


def enter(board: Board, name: str, now_is: Member) -> Member:
    """Bring a member's entry up to date; who comes back from a pause has no claim to what it did not use."""
    was = board.members.get(name)
    now_is.served = 0 if was is None else was.served
    if was is None or not (was.in_flight or was.waiting):
        active = [one.served for key, one in board.members.items() if key != name and (one.in_flight or one.waiting)]
        now_is.served = max(now_is.served, min(active, default=0))
    board.members[name] = now_is
    return now_is


def forget_old(board: Board, now: float, window_s: float) -> None:
    """Drop starts that are a window old, and any that lie in the future (of another clock)."""
    piece = window_s / PIECES
    oldest, newest = (now - window_s) / piece - 1, now / piece + 1
    for number in [number for number in board.buckets if not oldest < number <= newest]:
        del board.buckets[number]


def settle(board: Board, started: float, unused: int, window_s: float) -> None:
    """Give back tokens that a request reserved and did not use; negative: it used more."""
    bucket = board.buckets.get(floor(started / (window_s / PIECES)))
    if bucket is not None:
        bucket[1] = max(0, bucket[1] - unused)


def share_out(board: Board, me: str, heads: Sequence[int], now: float, window_s: float) -> tuple[int, list[str]]:
    """Let requests start.

    Args:
        board: Up to date; the starts of `me` are entered.
        me: Who asks.
        heads: Tokens of my requests that wait, in their order.
        now: The time.
        window_s: Seconds of the window that limits of starts mean.

    Returns:
        How many of mine start now, and who else has to be told that it may start some.
    """
    if now < board.cool_until:
        return 0, []
    rules = in_force(board)
    line = _line(board, me, heads, now)
    room = rules.concurrency - sum(one.in_flight for one in board.members.values())
    requests = sum(used[0] for used in board.buckets.values())
    tokens = sum(used[1] for used in board.buckets.values())
    by_starts = rules.requests < inf or rules.tokens < inf
    ahead = 1 if by_starts and requests < _MANY * len(line) else _AHEAD

    def rank(one: _Place) -> tuple[int, int, bool]:
        return (0 if by_starts else one.in_flight), one.served // ahead, one.name != me

    mine, mine_tokens, others = 0, 0, dict[str, None]()
    while line and room >= 1 and requests < rules.requests:
        place = min(line, key=rank)
        # A request above the whole limit could never start; it goes alone instead.
        if tokens > 0 and tokens + place.head > rules.tokens:
            break
        room, requests, tokens = room - 1, requests + 1, tokens + place.head
        if place.name == me:
            mine, mine_tokens = mine + 1, mine_tokens + place.head
            place.head = heads[mine] if mine < len(heads) else 0
        else:
            others[place.name] = None
        place.in_flight, place.served, place.left = place.in_flight + 1, place.served + 1, place.left - 1
        if not place.left:
            line.remove(place)
    if mine:
        _enter_starts(board, me, mine, mine_tokens if by_starts else None, now, window_s)
    return mine, _to_ring(board, others, now)


def next_change(board: Board, now: float, window_s: float) -> float:
    """Return the seconds until time alone may let somebody start; infinite if it cannot."""
    if now < board.cool_until:
        return board.cool_until - now
    rules = in_force(board)
    if not board.buckets or rules.requests == rules.tokens == inf:
        return inf
    return max(0.0, (min(board.buckets) + 1) * (window_s / PIECES) + window_s - now)


def succeeded(board: Board, times: int) -> None:
    """Raise the ceiling: by one for each success before the first 429, later by one for each full round."""
    if not board.ceiling:
        board.ceiling = FIRST_CEILING
    in_flight = sum(one.in_flight for one in board.members.values())
    for _ in range(times):
        # What was not used to the full has not proved that there is more.
        if in_flight + times >= floor(board.ceiling):
            board.ceiling += 1.0 if board.rising else 1.0 / board.ceiling


def refused(board: Board, now: float) -> None:
    """Lower the ceiling; during a cool-down not again, for its 429s are of requests sent before it."""
    if now < board.cool_until:
        return
    reached = board.ceiling if board.ceiling else FIRST_CEILING
    board.ceiling, board.rising = max(1.0, reached * _CUT), False


def _line(board: Board, me: str, heads: Sequence[int], now: float) -> list[_Place]:
    line = []
    for name, one in board.members.items():
        if name == me:
            if heads:
                line.append(_Place(name, one.in_flight, one.served, heads, heads[0], len(heads)))
        elif one.waiting and not (one.rung and now - one.rung > TARDY_S):
            line.append(_Place(name, one.in_flight, one.served, (), one.head, one.waiting))
    return line


def _enter_starts(board: Board, me: str, starts: int, tokens: int | None, now: float, window_s: float) -> None:
    member = board.members[me]
    member.in_flight += starts
    member.served += starts
    if tokens is not None:
        bucket = board.buckets.setdefault(floor(now / (window_s / PIECES)), [0, 0])
        bucket[0] += starts
        bucket[1] += tokens


def _to_ring(board: Board, names: dict[str, None], now: float) -> list[str]:
    fresh = [name for name in names if not board.members[name].rung]
    for name in fresh:
        board.members[name].rung = now
    return fresh
