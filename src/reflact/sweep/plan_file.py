"""`plan.json` in a sweep's root: the study's identity and its points."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.config.identity import effective
from reflact.core.errors import ConfigError, DataError
from reflact.rundir.atomic import write_json
from reflact.rundir.refusal import shown
from reflact.rundir.view import find_runs
from reflact.sweep.command_line import GRID
from reflact.sweep.identity import require_same_study
from reflact.sweep.planned import Planned, PointState

NAME = "plan.json"
_LEFT_OUT_TODAY = ("not in sweep.only", "excluded")


def read_plan(root: Path) -> dict[str, Any] | None:
    """Return the plan of a root, None if it has none.

    Raises:
        DataError: It is not readable.
    """
    path = root / NAME
    try:
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from error
    return plan


def bound_plan(root: Path, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the plan that a root is bound to; None if nothing was ever started in it.

    Raises:
        Refused: The root belongs to another study.
    """
    old = read_plan(root)
    if old is None or not find_runs(root):
        return None  # a plan that was only looked at binds nobody
    require_same_study(old["identity"], identity, str(root))
    return old


def merged(
    name: str, identity: Mapping[str, Any], planned: Sequence[Planned], old: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the content of `plan.json`: the points in their order, those of earlier sweeps in this root kept."""
    points = {entry.point.run_id: entry.to_json() for entry in planned}
    swept = _swept(planned) if name == GRID else set()
    if old is None:
        return {"plan": name, "identity": dict(identity), "swept": sorted(swept), "points": list(points.values())}
    before = {point["run_id"]: point for point in old["points"]}
    today = {entry.point.run_id for entry in planned if _left_out_today(entry)}
    kept = {run_id: point for run_id, point in before.items() if run_id not in points or run_id in today}
    whole = {**before, **points, **kept}
    parts = ("base", "splits", "source_skills")
    whole_identity = {**identity, **{part: {**old["identity"].get(part, {}), **identity[part]} for part in parts}}
    swept |= set(old.get("swept", ()))
    return {"plan": name, "identity": whole_identity, "swept": sorted(swept), "points": list(whole.values())}


def _swept(planned: Sequence[Planned]) -> set[str]:
    """Return the keys in which the points of a benchmark differ: the tables of a grid compare what is equal beside."""
    seen: dict[str, dict[str, Any]] = {}
    differing: set[str] = set()
    for entry in planned:
        if entry.config is None:
            continue
        values = effective(entry.config)
        first = seen.setdefault(entry.point.benchmark, values)
        differing |= {key for key in {*first, *values} if first.get(key) != values.get(key)}
    return differing


def write_plan(root: Path, plan: Mapping[str, Any], command: Sequence[str]) -> None:
    """Write `plan.json`.

    Args:
        root: The sweep's root.
        plan: Its content.
        command: The words of the sweep's command line (`sweep_command`), with which its runs go on.

    Raises:
        ConfigError: No folder can be made there.
        OSError: It could not be written.
    """
    try:
        write_json(root / NAME, {**plan, "command": list(command)})
    except FileNotFoundError as error:  # below /proc, or a folder that was removed
        raise ConfigError(
            f"hydra.sweep.dir={shown(str(root))}: no folder can be made there: {error.strerror}"
        ) from None


def _left_out_today(entry: Planned) -> bool:
    """Whether a point still belongs to the study although this sweep was told to leave it out."""
    return entry.state is PointState.SKIP and entry.why in _LEFT_OUT_TODAY
