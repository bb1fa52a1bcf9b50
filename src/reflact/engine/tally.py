"""Counts over every evaluation folder of a run, from its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.names import Phase, RowStatus
from reflact.rundir.jsonl import read_jsonl


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows by phase and status, and replies that a token cap cut.

    Attributes:
        rows: phase -> status -> rows; the last row of each (key, item, repeat) counts.
        truncated: phase -> rows with an answer in spite of the cut.
        length: phase -> rows without one because of it.
        no_action: phase -> turns without a usable action.
        turns: phase -> turns.
        marks: What rows say of themselves in `extra` that makes a run unfit (`unsandboxed`, `gold_feedback`,
            `not_evaluable`) -> rows.
    """

    rows: dict[str, dict[str, int]]
    truncated: dict[str, int]
    length: dict[str, int]
    no_action: dict[str, int]
    turns: dict[str, int]
    marks: dict[str, int]


def tally(root: Path, only: Phase | None = None) -> Tally:
    """Count the rows of all evaluation folders below a run directory.

    Args:
        root: The run directory.
        only: What all of its rows are for, where the folders do not say it (the evaluation of one skill).
    """
    zeros = {phase.value: 0 for phase in Phase}
    counts = Tally(
        {phase.value: {status.value: 0 for status in RowStatus} for phase in Phase},
        dict(zeros),
        dict(zeros),
        dict(zeros),
        dict(zeros),
        {},
    )
    for path in sorted(root.rglob("results.jsonl")):
        folder = path.parent.relative_to(root)
        if folder.parts[0] == "speculation":
            continue  # nothing rests on these rows
        phase = (only or phase_of(folder)).value
        for row in _last_rows(path):
            counts.rows[phase][row["status"]] += 1
            counts.truncated[phase] += bool(row["truncated"])
            counts.length[phase] += row["status"] == RowStatus.EMPTY and row["cause"] == "length"
            counts.no_action[phase] += row["no_action"]
            counts.turns[phase] += row["n_turns"]
            for mark in row["marks"]:
                counts.marks[mark] = counts.marks.get(mark, 0) + 1
    return counts


def phase_of(folder: Path) -> Phase:
    """Return the phase of an evaluation folder (a path relative to the run directory)."""
    parts = folder.parts
    if parts[-1] == "selection":
        return Phase.SELECTION
    if parts[0] == "test" or parts[-1] == "test":
        return Phase.TEST
    return Phase.TRAIN if parts[0] == "steps" else Phase.SLOW


def _last_rows(path: Path) -> Iterator[dict[str, Any]]:
    last: dict[tuple[str, str, int], dict[str, Any]] = {}
    for _, row in read_jsonl(path):
        kept = {name: row[name] for name in ("status", "cause", "truncated", "no_action", "n_turns")}
        kept["marks"] = _marks(row["extra"])
        last[row["key"], row["id"], row["repeat"]] = kept
    yield from last.values()


def _marks(extra: Mapping[str, Any]) -> list[str]:
    found = {
        "unsandboxed": extra.get("sandbox") == "unsandboxed",
        "gold_feedback": bool(extra.get("gold_feedback")),
        "not_evaluable": bool(extra.get("not_evaluable")),
    }
    return [mark for mark, there in found.items() if there]
