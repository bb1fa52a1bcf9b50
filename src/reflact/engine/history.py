"""history.jsonl: one record a step or epoch-end update, without times, so that equal runs have equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.engine.state import TrainingState
from reflact.rundir.atomic import write_text
from reflact.rundir.jsonl import read_jsonl
from reflact.rundir.layout import RunLayout


class History:
    """Appends records; on opening drops lines that the saved state does not cover.

    A process can die between a record and the state that covers it; the stage is then done again and gives the
    same record.

    Attributes:
        missing: Records that the state covers and the file has not: somebody else shortened it. They cannot be made
            again, but do not count as there either, so that what is appended now is not taken for them.
    """

    def __init__(self, layout: RunLayout, state: TrainingState) -> None:
        self._layout = layout
        self._state = state
        covered = state.history_lines
        state.history_lines = _keep(layout.history, covered)
        state.lr_history_lines = _keep(layout.lr_history, state.lr_history_lines)
        self.missing = covered - state.history_lines
        if not layout.history.exists():
            write_text(layout.history, "")  # a run without a step has a history too

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record of a step or an update."""
        _append(self._layout.history, record)
        self._state.history_lines += 1

    def append_lr(self, record: Mapping[str, Any]) -> None:
        """Add a decision on the learning rate."""
        _append(self._layout.lr_history, record)
        self._state.lr_history_lines += 1

    def records(self, epoch: int) -> list[dict[str, Any]]:
        """Return the records of an epoch."""
        return [record for record in read_history(self._layout) if record["epoch"] == epoch]


def _append(path: Path, record: Mapping[str, Any]) -> None:
    lines = path.read_text(encoding="utf-8") if path.exists() else ""
    write_text(path, lines + json.dumps(record, ensure_ascii=False) + "\n")


def read_history(layout: RunLayout) -> list[dict[str, Any]]:
    """Return all records of a run; none where the file is missing.

    Raises:
        DataError: A line is no record; file and line are named.
    """
    path = layout.history
    return [record for _, record in read_jsonl(path)]


def _keep(path: Path, lines: int) -> int:
    """Leave the first `lines` whole lines in a file; return how many it has then."""
    if not path.exists():
        return 0
    found = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in found if line.endswith("\n")][:lines]
    if len(kept) < len(found):
        write_text(path, "".join(kept))
    return len(kept)
