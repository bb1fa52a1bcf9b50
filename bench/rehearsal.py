"""The whole study, looked at and rehearsed: the dry run, and every eighth of its runs."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from bench.runs import scratch
from bench.study import PAPER, Took, cores, planned, sweep
from bench.table import show

EVERY = 8
REPEATS = 3
TARGET_DRY_S, TARGET_S = 20, 1200
# The first runs of these do what the others share: games are played, scripts are run.
_FIRST = ("DEFAULT-spreadsheetbench-5.5", "DEFAULT-alfworld-5.5")


def main() -> None:
    """Measure a part, extrapolate and print."""
    with scratch() as name:
        root = Path(name) / "study"
        looks = [sweep(root, *PAPER, "sweep.dry_run=true") for _ in range(REPEATS)]
        runs = [point["run_id"] for point in planned(root)]
        first = _rehearse(root, _FIRST)
        others = [run_id for run_id in runs if run_id not in _FIRST]
        some = others[::EVERY]
        part = _rehearse(root, some)
    look = Took(min(took.wall_s for took in looks), min(took.cpu_s for took in looks))
    share = len(others) / len(some)
    whole = Took(*(_extrapolated(getattr(first, at), getattr(part, at), getattr(look, at), share) for at in _FIELDS))
    show(
        f"rehearsal: the plan `paper`, {len(runs)} runs of 283 points, 2 at once on {cores()} cores",
        ["", "seconds", "of the target", "CPU s", "CPU s a run"],
        [
            ["dry run, best", look.wall_s, look.wall_s / TARGET_DRY_S, look.cpu_s, None],
            ["dry run, median", median(took.wall_s for took in looks), None, None, None],
            [f"{len(_FIRST)} first runs", first.wall_s, None, first.cpu_s, (first.cpu_s - look.cpu_s) / len(_FIRST)],
            [f"{len(some)} of the others", part.wall_s, None, part.cpu_s, (part.cpu_s - look.cpu_s) / len(some)],
            ["all, extrapolated", whole.wall_s, whole.wall_s / TARGET_S, whole.cpu_s, whole.cpu_s / len(runs)],
        ],
        [
            f"Targets for two idle cores: {TARGET_DRY_S} s for the dry run, {TARGET_S} s for the rehearsal.",
            "CPU s a run are those beyond planning. For real, in ten minutes or more: python -m bench rehearsal_full",
        ],
    )


_FIELDS = ("wall_s", "cpu_s")


def _rehearse(root: Path, run_ids: list[str] | tuple[str, ...]) -> Took:
    return sweep(root, *PAPER, f"sweep.only=[{','.join(run_ids)}]", "sweep.existing=skip_done")


def _extrapolated(first: float, part: float, look: float, share: float) -> float:
    """Return what all would take: the first runs with planning, and the others as often as there are."""
    return first + share * (part - look)
