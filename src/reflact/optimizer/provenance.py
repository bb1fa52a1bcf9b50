"""Provenance of changes: attached by us, so that support counts are real."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reflact.optimizer.types import Change, Source


def union(supports: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the distinct ids of several supports, in order of first appearance."""
    return tuple(dict.fromkeys(item for support in supports for item in support))


def joint_source(changes: Sequence[Change]) -> Source:
    """Return what a change made from others comes from: failures as soon as one of them does."""
    sources = {change.source for change in changes}
    return next(source for source in (Source.FAILURE, Source.SUCCESS, Source.HISTORY) if source in sources)


def by_support(changes: Sequence[Change]) -> tuple[int, ...]:
    """Return indices of changes by real support, largest first, failures before successes, otherwise as given."""
    return tuple(
        sorted(
            range(len(changes)),
            key=lambda index: (-len(set(changes[index].support)), changes[index].source is not Source.FAILURE),
        )
    )
