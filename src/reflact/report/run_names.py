"""What runs are called where many are listed: two machines' roots may hold runs of the same id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from reflact.report.status import RunLine
from reflact.report.text import clean


def run_names(lines: Sequence[RunLine]) -> dict[str, str]:
    """Return the name of each run by its path: its id, and where it lies if another run has the same id."""
    alike: dict[str, list[str]] = {}
    for line in lines:
        paths = alike.setdefault(line.id, [])
        paths += [] if line.path in paths else [line.path]
    return {
        path: clean(run_id, 60) + (f" ({clean(_where(path, run_id, paths), 40)})" if len(paths) > 1 else "")
        for run_id, paths in alike.items()
        for path in paths
    }


def _where(path: str, run_id: str, paths: Sequence[str]) -> str:
    """Return the shortest end of a path that no other has; without the run's own folder where that is its id."""
    parts, others = PurePath(path).parts, [PurePath(other).parts for other in paths]
    alone = (n for n in range(1, len(parts)) if sum(other[-n:] == parts[-n:] for other in others) == 1)
    end = parts[-next(alone, len(parts)) :]
    return "/".join(end[:-1] if end[-1] == run_id and len(end) > 1 else end)
