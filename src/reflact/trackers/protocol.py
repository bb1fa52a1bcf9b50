"""What a tracker is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Begin:
    """What a tracker is told first.

    Attributes:
        run_id: The run's id.
        project: Experiment or project.
        folder: Where local stores go; runs may share it.
        memory: Folder of this run and tracker alone, for what it must find again when the run is resumed.
        params: The configuration and what the run is, flat, without secrets.
        tags: Short labels (`simulated`, the benchmark).
        settings: The keys of `tracking.*`.
    """

    run_id: str
    project: str
    folder: str
    memory: str
    params: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class End:
    """What a tracker is told last.

    Attributes:
        state: `done`, `stopped` or `failed`.
        cause: Why.
        summary: Numbers of the run's result; empty if there is none.
        files: Files of the result (the best skill).
    """

    state: str
    cause: str = ""
    summary: Mapping[str, float] = field(default_factory=dict)
    files: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


class Tracker(Protocol):
    """Takes a run's numbers; made in a process of its own by the entry point in `reflact.trackers`.

    It may raise and take its time. A resumed run begins once more, in another process.
    """

    def begin(self, begin: Begin) -> None:
        """The run begins, or goes on."""

    def metrics(self, values: Mapping[str, float], step: int, at: float) -> None:
        """Numbers of a step (0 before the first one), known at `at` (seconds since 1970)."""

    def end(self, end: End) -> None:
        """The run is over for this process."""


def remembered(begin: Begin, name: str) -> str:
    """Return what was kept under a name for this run; `""` if nothing was."""
    path = Path(begin.memory) / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def remember(begin: Begin, name: str, value: str) -> None:
    """Keep a short text for the time when the run is resumed."""
    Path(begin.memory, name).write_text(value + "\n", encoding="utf-8")
