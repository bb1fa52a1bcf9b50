"""What a directory is, read from its files and from nothing else."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

from reflact.core.events import RunFinished, RunStarted, RunStopped
from reflact.core.names import RunState
from reflact.core.types import Json
from reflact.rundir.atomic import TEMPORARY_PREFIX
from reflact.rundir.claims import CLAIM_NAME, ClaimView, inspect
from reflact.rundir.jsonl import parse_line
from reflact.rundir.layout import RunLayout
from reflact.rundir.quiet import names_quiet, open_quiet, read_quiet

ARCHIVE = "archive"
"""Name of the folder, beside the runs, of what was archived."""

_RECORDS = frozenset({"config.json", "events.jsonl"})
"""Files of which a run has at least one as soon as it has begun."""

_TAIL = 1 << 18
"""A process's last event is its last one or nearly so; this many bytes of events are looked through for it."""


@dataclass(frozen=True, slots=True)
class RunView:
    """What a directory is.

    Attributes:
        root: The directory.
        names: What is directly in it; empty also if it does not exist.
        ours: It holds a run of this project, complete or not.
        state: The run's state; `planned` for a missing or empty directory, None for what is no run.
        claim: Who owns it.
        summary: Content of `summary.json` if the run is complete.
        last_write_s: Seconds since the last write to the directory's own files; None if it has none.
        stop_cause: Cause in the last stop's event, if nothing began after it.
        stop_message: Message in that event.
    """

    root: Path
    names: tuple[str, ...]
    ours: bool
    state: RunState | None
    claim: ClaimView
    summary: dict[str, Json] | None = None
    last_write_s: float | None = None
    stop_cause: str | None = None
    stop_message: str | None = None


def view_run(root: Path, timeout_s: float | None = None) -> RunView:
    """Return what the directory is; nothing in it changes, not even an access time.

    Args:
        root: The directory; may be missing.
        timeout_s: Seconds without a heartbeat after which a claim is stale; by default what its owner set.

    Raises:
        NotADirectoryError, PermissionError: It is no directory, or may not be read.
    """
    try:
        names = tuple(names_quiet(root))
    except FileNotFoundError:
        names = ()
    if not names:
        return RunView(root, names, ours=False, state=RunState.PLANNED, claim=ClaimView())
    last_write_s = _last_write_s(root, names)
    claim = inspect(root, timeout_s)
    if not _is_ours(root, names, claim):
        return RunView(root, names, ours=False, state=None, claim=ClaimView(), last_write_s=last_write_s)
    layout = RunLayout(root)
    summary, ending = _summary(layout.summary), _ending(layout.events)
    stopped = ending is not None and ending["kind"] == RunStopped.kind and claim.alive is False
    return RunView(
        root,
        names,
        ours=True,
        state=_state(root, claim, summary, ending if stopped else None),
        claim=claim,
        summary=summary,
        last_write_s=last_write_s,
        stop_cause=str(ending["cause"]) if ending and stopped else None,
        stop_message=str(ending["message"]) if ending and stopped else None,
    )


def find_runs(root: Path, *, archived: bool = False) -> list[Path]:
    """Return the run directories at or below `root`, in the order of their names.

    A run's own folders are not entered, nor are hidden ones and `archive` (unless asked for) and folders that may not
    be read. Links are followed; a folder that can be reached twice is entered once.
    """
    return list(_find(root, archived, set()))


def _find(folder: Path, archived: bool, seen: set[tuple[int, int]]) -> Iterator[Path]:
    try:
        stat = folder.stat()
        if not S_ISDIR(stat.st_mode) or (stat.st_dev, stat.st_ino) in seen:
            return
        names = names_quiet(folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EACCES, errno.ELOOP):  # gone, not for us, a link to itself
            return
        raise
    seen.add((stat.st_dev, stat.st_ino))
    if RunLayout(folder).claims.is_dir() and _RECORDS & set(names):
        yield folder
        return
    for name in names:
        if name.startswith(".") or (name == ARCHIVE and not archived):
            continue
        yield from _find(folder / name, archived, seen)


def _is_ours(root: Path, names: tuple[str, ...], claim: ClaimView) -> bool:
    """Whether this is a run, perhaps one that died at birth; a foreign folder may have a `claims` of its own."""
    layout = RunLayout(root)
    if not layout.claims.is_dir() or layout.claims.is_symlink():
        return False
    marks = [name for name in names_quiet(layout.claims) if not name.startswith(TEMPORARY_PREFIX)]
    if not all(CLAIM_NAME.fullmatch(name) for name in marks):
        return False
    if claim.owner is not None or _RECORDS & set(names):
        return True
    rest = set(names) - {layout.claims.name, layout.hydra.name}
    return all(name.endswith(".log") or name.startswith(TEMPORARY_PREFIX) for name in rest)


def _state(root: Path, claim: ClaimView, summary: dict[str, Json] | None, stop: dict[str, Json] | None) -> RunState:
    if root.parent.name == ARCHIVE and archive_note(root).is_file():
        return RunState.ARCHIVED
    if summary is not None:
        return RunState.DONE
    if claim.alive is not False:
        return RunState.RUNNING
    if stop is not None:
        return RunState.FAILED if stop["state"] == RunState.FAILED else RunState.STOPPED
    return RunState.STOPPED if claim.released else RunState.STALE


def archive_note(moved: Path) -> Path:
    """Return the file beside an archived directory that says when and why."""
    return moved.with_name(moved.name + ".json")


def _summary(path: Path) -> dict[str, Json] | None:
    try:
        summary = parse_line(read_quiet(path))
    except FileNotFoundError:
        return None
    return summary if summary is not None and summary.get("status") == "completed" else None


def _ending(path: Path) -> dict[str, Json] | None:
    """Return the last event that began or ended a process's work."""
    try:
        file = open_quiet(path)
    except FileNotFoundError:
        return None
    with file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        lines = file.read().split(b"\n")
    kinds = (RunStarted.kind, RunStopped.kind, RunFinished.kind)
    for line in reversed(lines):
        if b'"run_' not in line:
            continue
        event = parse_line(line)
        if event is not None and event.get("kind") in kinds:
            return event
    return None


def _last_write_s(root: Path, names: tuple[str, ...]) -> float | None:
    """Return the age of the newest file directly in the directory (events are, and they tell of everything else)."""
    times = []
    for name in names:
        try:
            times.append(Path(root, name).lstat().st_mtime)
        except FileNotFoundError:
            continue
    return max(0.0, time.time() - max(times)) if times else None
