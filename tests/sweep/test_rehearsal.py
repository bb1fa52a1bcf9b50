"""The study, rehearsed by its own command: forty of its 283 points, over all benchmarks and all plans of agents."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.recall import FOLDER
from tests.benchmarks.alfworld.support import needs_engine
from tests.benchmarks.spreadsheetbench.support import need_bubblewrap
from tests.cli.commands import Result, line
from tests.sweep.commands import plan, rows, states

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

POINTS = (
    *("DEFAULT-searchqa-5.5", "SPLIT-searchqa-1-1-8", "BATCH-searchqa-24", "MBS-searchqa-4", "LR-searchqa-4"),
    *("SLOWN-searchqa-5", "MOD-searchqa-none", "SMODEL-searchqa-5.4-mini", "LONGPAIR-searchqa-changed"),
    *("LRCTRL-searchqa-autonomous", "LRCTRL-searchqa-full-rewrite", "skill-none-searchqa-5.5"),
    *("DEFAULT-docvqa-5.5", "BATCH-docvqa-full", "LR-docvqa-8", "SCHED-docvqa-linear", "skill-none-docvqa-5.5"),
    *("DEFAULT-livemathematicianbench-5.5", "MBS-livemathematicianbench-1"),
    *("MOD-livemathematicianbench-slow-only", "LRCTRL-livemathematicianbench-full-rewrite"),
    *("DEFAULT-spreadsheetbench-5.5", "LR-spreadsheetbench-2"),
    *("HARNESS-BESTSETTING-searchqa-codex", "HARNESS-BESTSKILL-searchqa-codex", "HARNESS-Codex-SearchQA-lr8"),
    *("HARNESS-BESTSKILL-livemathematicianbench-codex", "HARNESS-Codex-LiveMath-slow10"),
    *("HARNESS-BESTSKILL-docvqa-codex", "HARNESS-Codex-DocVQA10-batch-full"),
    *("HARNESS-BESTSKILL-spreadsheetbench-claude", "HARNESS-Claude-Spreadsheet-minibatch16-multi"),
)
ALIASES = {
    "SCHED-searchqa-constant": "LR-searchqa-4",
    "BATCH-livemathematicianbench-56": "DEFAULT-livemathematicianbench-5.5",
    "SCHED-spreadsheetbench-linear": "DEFAULT-spreadsheetbench-5.5",
    "HARNESS-Codex-LiveMath-sched-linear": "HARNESS-BESTSKILL-livemathematicianbench-codex",
}
GAMES = ("DEFAULT-alfworld-5.5", "LR-alfworld-16", "skill-none-alfworld-5.5")
GAME_ALIASES = {"SCHED-alfworld-linear": "DEFAULT-alfworld-5.5"}


def rehearse(folder: Path, points: Iterable[str], *more: str) -> Result:
    """Rehearse points of the whole study in the root `study`."""
    words = ("+sweep=paper", "sweep.rehearse=true", f"sweep.only=[{','.join(points)}]", "hydra.sweep.dir=study")
    done = subprocess.run(line("reflact-train", "-m", *words, *more), cwd=folder, capture_output=True, timeout=800)
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def summary(root: Path, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / run_id / "summary.json").read_text(encoding="utf-8"))
    return found


def check_runs(root: Path, points: Sequence[str], aliases: dict[str, str]) -> None:
    """Every point was run once and is complete, simulated and without a failed row; aliases were not run."""
    planned = plan(root)
    assert {run_id for run_id, point in planned.items() if point["state"] == "run"} == set(points)
    assert {run_id: planned[run_id]["same_as"] for run_id in aliases} == aliases
    said = states(root)
    assert set(said) == set(points)
    for run_id in points:
        assert (said[run_id].count("running") >= 1, said[run_id][-1]) == (True, "done"), run_id
        found = summary(root, run_id)
        assert (found["status"], found["simulated"], found["sample"]) == ("completed", True, True), run_id
        assert found["validity"]["valid"] or set(found["validity"]["reasons"]) <= {"simulated", "sample"}, run_id


def table_rows(root: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of all tables by run id."""
    found: dict[str, list[dict[str, str]]] = {}
    for path in sorted((root / "tables").glob("*.csv")):
        assert not path.name.endswith(".invalid.csv"), path.read_text(encoding="utf-8")
        title = path.with_suffix(".md").read_text(encoding="utf-8").partition("\n")[0]
        here = rows(path)
        assert "SIMULATED" in title or {row["state"] for row in here} == {"planned"}, path.name
        for row in here:
            found.setdefault(row["run_id"], []).append(row)
    return found


def check_tables(root: Path, points: Sequence[str], aliases: dict[str, str]) -> None:
    """Every run fills its cells, every alias shows its run's numbers, and all of it is marked."""
    found = table_rows(root)
    for run_id in points:
        filled = [row for row in found[run_id] if row["state"] == "done"]
        assert filled and filled == found[run_id], run_id
        assert all(row["best_test"] if "best_test" in row else row["test"] for row in filled), run_id
        assert {row["simulated"] for row in filled} == {"true"}, run_id
    for alias, run_id in aliases.items():
        assert any(row.get("fill") == "alias" for row in found[run_id]), alias


def test_points_of_four_benchmarks_and_of_agents(tmp_path: Path) -> None:
    need_bubblewrap()
    pytest.importorskip("PIL", reason="absent: pillow (the extra `docvqa`)")
    result = rehearse(tmp_path, (*POINTS, *ALIASES))
    assert result.code == 0, result.err
    root = tmp_path / "study"
    check_runs(root, POINTS, ALIASES)
    check_tables(root, POINTS, ALIASES)
    # What scripts did in the first run is there for the others, and under the student's own settings only.
    assert {path.name for path in (root / FOLDER).iterdir()} == {"spreadsheetbench"}


@needs_engine
def test_points_of_games(tmp_path: Path) -> None:
    result = rehearse(tmp_path, (*GAMES, *GAME_ALIASES), "env.max_turns=9")
    assert result.code == 0, result.err
    root = tmp_path / "study"
    check_runs(root, GAMES, GAME_ALIASES)
    check_tables(root, GAMES, GAME_ALIASES)
