"""Scores by item, from the rows of an evaluation folder."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from pathlib import Path

from reflact.core.errors import DataError
from reflact.core.names import RowStatus
from reflact.report.numbers import number, whole
from reflact.rundir.jsonl import read_jsonl
from reflact.rundir.layout import EvaluationFolder, RunLayout


def item_means(folder: EvaluationFolder) -> dict[str, float]:
    """Return the mean of `hard` over the repeats of each item whose every row is scored; empty without rows.

    Every repeat has a key of its own, since its seed differs. Of a repeat's rows under several keys (a skill, model or
    code version that was given up) those under the last one count.

    Raises:
        DataError: A line in the middle of the file is damaged, or something else stands where a number belongs.
    """
    last: dict[tuple[str, str, int], float | None] = {}
    keys: dict[int, str] = {}
    for _, row in read_jsonl(folder.results):
        repeat, key, hard = whole(row.get("repeat", 0)), str(row.get("key")), row.get("hard")
        score = number(hard) if row.get("status") != RowStatus.ERROR else None
        if repeat is None or (hard is not None and number(hard) is None):
            raise DataError(
                f"{folder.results}: the row of item {row.get('id')!r} says repeat={row.get('repeat', 0)!r:.40} and "
                f"hard={hard!r:.40}; numbers belong there. Put a good copy of the file back, or leave the run out"
            )
        keys[repeat] = key
        last[key, str(row.get("id")), repeat] = score
    grouped: dict[str, list[float | None]] = {}
    for (key, item, repeat), score in last.items():
        if key == keys[repeat]:
            grouped.setdefault(item, []).append(score)
    means: dict[str, float] = {}
    for item, scores in grouped.items():
        known = [score for score in scores if score is not None]
        if len(known) == len(scores):
            means[item] = fsum(known) / len(known)
    return means


def folder_of(root: Path, side: str, part: str, origin: str, best_is_initial: bool) -> EvaluationFolder:
    """Return the folder with the rows of the `baseline` or `best` skill on `selection` or `test`.

    Args:
        root: The run directory.
        side: `baseline` or `best`.
        part: `selection` or `test`.
        origin: Where the best skill came from (`step_0003`, `epoch_02_slow`).
        best_is_initial: The best skill is the initial one, whose evaluations are not repeated.
    """
    layout = RunLayout(root)
    if side == "baseline" or best_is_initial:
        return layout.baseline(part)
    if part == "test":
        return layout.test("best")
    if origin.startswith("epoch_"):
        return layout.evaluation(f"slow_update/{origin.removesuffix('_slow')}/selection")
    return layout.evaluation(f"steps/{origin}/selection")


def shared(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """Return the scores of the items on both sides, in the order of their ids."""
    items = sorted(before.keys() & after.keys())
    return [before[item] for item in items], [after[item] for item in items]


def over_runs(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return each item's mean over repeats of a run; items that one of them lacks are left out."""
    if not runs:
        return {}
    items = set(runs[0]).intersection(*runs[1:])
    return {item: fsum(run[item] for run in runs) / len(runs) for item in sorted(items)}
