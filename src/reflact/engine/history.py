"""history.jsonl: one record a step or epoch-end update, without times, so that equal runs have equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.engine.state import TrainingState
from reflact.rundir.atomic import write_text
from reflact.rundir.layout import RunLayout


class History:
    """Appends records; on opening drops lines that the saved state does not cover.

    A process can die between a record and the state that covers it; the stage is then done again and gives the
    same record.
    """

    def __init__(self, layout: RunLayout, state: TrainingState) -> None:
        self._layout = layout
        self._state = state
        _keep(layout.history, state.history_lines)
        _keep(layout.lr_history, state.lr_history_lines)
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
        return [record for record in _read(self._layout.history) if record["epoch"] == epoch]


def _append(path: Path, record: Mapping[str, Any]) -> None:
    lines = path.read_text(encoding="utf-8") if path.exists() else ""
    write_text(path, lines + json.dumps(record, ensure_ascii=False) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _keep(path: Path, lines: int) -> None:
    if not path.exists():
        return
    kept = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if len(kept) > lines or (kept and not kept[-1].endswith("\n")):
        write_text(path, "".join(kept[:lines]))
