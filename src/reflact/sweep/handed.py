"""What a launcher is handed: it takes jobs as it goes, and finds the list at its end once nothing more is to start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload


class Handed(Sequence[Sequence[str]]):
    """Overrides of jobs.

    Launchers know of no stop: each would go through every job that is left, and compose it, only to be told by its task
    that there is nothing to do. That takes longer than the runs that were stopped.

    Args:
        overrides: Those of each job.
        closed: Says whether nothing more is to start.
    """

    def __init__(self, overrides: Sequence[Sequence[str]], closed: Callable[[], object]) -> None:
        self._overrides = overrides
        self._closed = closed

    def __len__(self) -> int:
        return len(self._overrides)

    @overload
    def __getitem__(self, place: int) -> Sequence[str]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Sequence[str]]: ...

    def __getitem__(self, place: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        return self._overrides[place]

    def __iter__(self) -> Iterator[Sequence[str]]:
        for overrides in self._overrides:
            if self._closed():
                return
            yield overrides
