"""`events.jsonl`: everything that happened in a run, for whoever looks at it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from reflact.core.events import Event
from reflact.core.types import Json
from reflact.rundir.jsonl import JsonlWriter, damaged, parse_line
from reflact.rundir.quiet import open_quiet
from reflact.rundir.redact import Redactor
from reflact.rundir.syncer import Syncer


class EventLog:
    """Writes every event that it is called with: `{"t": unix seconds, "kind": ..., fields}`.

    Only a file that cannot be written makes a call raise: a run whose events are lost could not count its cost.
    """

    def __init__(self, path: Path, syncer: Syncer, redactor: Redactor, clock: Callable[[], float]) -> None:
        """Append to the file at `path`; `clock` returns unix seconds."""
        self._writer = JsonlWriter(path, syncer)
        self._redactor = redactor
        self._clock = clock

    def __call__(self, event: Event) -> None:
        """Append the event, without secrets.

        Raises:
            OSError: The file cannot be written.
        """
        fields = self._redactor.log_json(_plain(event.to_json()))
        self._writer.append({"t": round(self._clock(), 3), "kind": event.kind, **fields})

    def close(self) -> None:
        """Sync and close the file."""
        self._writer.close()


def read_events(path: Path, offset: int = 0) -> tuple[list[dict[str, Json]], int]:
    """Return the events from `offset` on and the offset to go on from; a missing file has none.

    An incomplete last line is left for the next call. A file that is shorter than `offset` was replaced (its run was
    moved away, another began): it is read from its start.

    Raises:
        DataError: A complete line that is not the last one is no JSON object.
    """
    try:
        file = open_quiet(path)
    except FileNotFoundError:
        return [], 0
    with file:
        if file.seek(0, 2) < offset:
            offset = 0
        file.seek(offset)
        data = file.read()
    lines = [line + b"\n" for line in data.split(b"\n")[:-1]]
    found: list[dict[str, Json]] = []
    for index, line in enumerate(lines):
        event = parse_line(line)
        if event is None and index < len(lines) - 1:
            raise damaged(path, _line_at(path, offset))
        if event is not None:
            found.append(event)
            offset += len(line)
    return found, offset


def _line_at(path: Path, offset: int) -> int:
    """Return the number of the line that begins at `offset`."""
    with open_quiet(path) as file:
        return file.read(offset).count(b"\n") + 1


def _plain(value: Json) -> Json:
    """Return the value as JSON has it: unknown types as text, numbers that JSON lacks as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(name): _plain(item) for name, item in value.items()}
    return str(value)
