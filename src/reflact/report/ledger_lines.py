"""What sweeps' ledgers tell of runs: the last state of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.names import RunState
from reflact.rundir.jsonl import read_jsonl
from reflact.rundir.view import ARCHIVE

FOLDER = "ledger"
_CLOCKS_S = 0.05
"""A file system's times lag behind the clock by some milliseconds."""

_ENDS = frozenset({RunState.FAILED, RunState.STOPPED, RunState.REFUSED})


@dataclass(frozen=True, slots=True)
class Told:
    """The last line about a run.

    Attributes:
        run_id: Its id.
        benchmark: Its benchmark.
        state: Its state.
        cause: Why it failed or stopped.
        message: The same in words.
        time: When it was written, in unix seconds.
    """

    run_id: str
    benchmark: str
    state: RunState
    cause: str
    message: str
    time: float

    @property
    def text(self) -> str:
        """The state with its cause."""
        return f"{self.state.value} ({self.cause})" if self.cause else self.state.value


def last_lines(folders: Iterable[Path]) -> dict[Path, Told]:
    """Return the last line about each run in the ledgers of these sweeps, by the directory of the run.

    That is the one below the sweep's root, also where the root was moved since. Nothing is told of what was archived.

    Raises:
        DataError: A ledger is damaged.
    """
    last: dict[Path, Told] = {}
    for folder in folders:
        for path in sorted((folder / FOLDER).glob("*.jsonl")):
            for _, line in read_jsonl(path):
                told = _told(line)
                place = folder / Path(str(line.get("out_dir") or line.get("run_id"))).name
                if told is not None and (place not in last or told.time >= last[place].time):
                    last[place] = told
    return {place: told for place, told in sorted(last.items()) if not _archived_since(place, told.time)}


def _archived_since(place: Path, time: float) -> bool:
    """Whether what a line tells of was moved away: the directory is free, and the run is to be done again."""
    notes = (place.parent / ARCHIVE).glob("*.json")
    return any(note.name.startswith(f"{place.name}-") and note.stat().st_mtime >= time - _CLOCKS_S for note in notes)


def explains(told: Told, state: str) -> bool:
    """Whether a ledger knows better how a run ended than its directory.

    A run that was killed leaves nothing but a claim without an owner, one that was refused or died early not even
    that; who watched over it has seen what ended it.
    """
    return state in (RunState.STALE, RunState.PLANNED) and told.state in _ENDS


def _told(line: dict[str, Any]) -> Told | None:
    state, when = line.get("state"), line.get("t")
    if state not in set(RunState) or not isinstance(when, int | float):
        return None
    texts = {name: str(line.get(name) or "") for name in ("run_id", "benchmark", "cause", "message")}
    return Told(**texts, state=RunState(state), time=float(when))
