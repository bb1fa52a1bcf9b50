"""Sweeps as a user starts them, with simulated models."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import line, run, tree
from tests.sweep.commands import PATIENCE_S, sweep, until

pytestmark = pytest.mark.timeout(1500)

SMALL = ("harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false", "hydra/launcher=basic")
# Long enough to be caught at work, however fast the machine.
SLOW = ("rehearsal.latency_s=2", "env.workers=1")


def states(root: Path) -> dict[str, list[str]]:
    """The states of each run in the order of the ledger."""
    found: dict[str, list[str]] = {}
    for text in (root / "ledger.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        found.setdefault(entry["run_id"], []).append(entry["state"])
    return found


def plan(root: Path) -> dict[str, Any]:
    return {point["run_id"]: point for point in json.loads((root / "plan.json").read_text(encoding="utf-8"))["points"]}


def test_a_sweep_is_one_study_from_its_first_start_to_its_last(tmp_path: Path) -> None:
    root = tmp_path / "study"
    grid = "ablation/lr=lr2,lr8"
    assert sweep(tmp_path, grid, "sweep.dry_run=true").code == 0 and list(root.iterdir()) == [root / "plan.json"]
    first = sweep(tmp_path, grid)
    assert first.code == 0, first.err
    assert states(root) == {f"LR-orders-{n}": ["planned", "running", "done"] for n in (2, 8)}
    copied = json.loads((root / "LR-orders-8" / "baseline" / "selection" / "source.json").read_text(encoding="utf-8"))
    assert copied["run_id"] == "LR-orders-2"
    summary = json.loads((root / "LR-orders-8" / "summary.json").read_text(encoding="utf-8"))
    assert summary["reused"] == {"baseline_selection": "LR-orders-2", "baseline_test": None}

    before = tree(root)
    assert sweep(tmp_path, grid).code == 73
    other = sweep(tmp_path, grid, "train.seed=1", "sweep.existing=skip_done")
    assert other.code == 73 and "train.seed: 42 -> 1" in other.err
    assert tree(root) == before, "a refused sweep changes nothing"

    more = sweep(tmp_path, "ablation/lr=lr2,lr8,lr16", "sweep.existing=skip_done")
    assert more.code == 0, more.err
    points = plan(root)
    assert {name: point["state"] for name, point in points.items()} == {
        "LR-orders-2": "skip",
        "LR-orders-8": "skip",
        "LR-orders-16": "run",
    }
    assert points["LR-orders-2"]["why"] == f"done in {root}"

    elsewhere = run(
        tmp_path,
        *("reflact-train", "-m", *SMALL, "ablation/lr=lr1,lr2", "sweep.dry_run=true"),
        f"sweep.known_roots=[{root}]",
    )
    assert elsewhere.code == 0, elsewhere.err
    assert f"done in {root}" in elsewhere.out and "LR-orders-1 " in elsewhere.out


def test_a_rehearsal_of_a_plan_is_named_like_the_plan(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        *("reflact-train", "-m", "+sweep=harness_step1", "sweep.rehearse=true", "hydra.sweep.dir=study"),
        *("sweep.only=[HARNESS-Codex-LiveMath-lr8]", "train.num_epochs=1", "hydra/launcher=basic"),
    )
    assert result.code == 0, result.err
    summary = json.loads((tmp_path / "study/HARNESS-Codex-LiveMath-lr8/summary.json").read_text(encoding="utf-8"))
    assert summary["run_id"] == "HARNESS-Codex-LiveMath-lr8"
    assert summary["simulated"] and summary["sample"]
    assert "harness=codex_exec" in plan(tmp_path / "study")["HARNESS-Codex-LiveMath-lr8"]["overrides"]


def test_a_plan_does_not_start_on_published_counts(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-train", "-m", "+sweep=longpair", "benchmark=docvqa", "hydra.sweep.dir=study")
    assert result.code == 2 and "published counts" in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_spent_budget_stops_every_run_so_that_it_can_go_on(tmp_path: Path) -> None:
    result = sweep(tmp_path, "ablation/lr=lr2,lr8", "sweep.max_tokens=500")
    assert result.code == 75
    assert [seen[-1] for seen in states(tmp_path / "study").values()] == ["stopped", "stopped"]
    assert "budget" in result.err
    again = sweep(tmp_path, "ablation/lr=lr2,lr8", "sweep.max_tokens=5000000", "sweep.existing=resume")
    assert again.code == 0, again.err


def _start(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    words = line("reflact-train", "-m", *SMALL, *SLOW, "hydra.sweep.dir=study", "ablation/lr=lr2,lr8", *more)
    with (folder / "said.txt").open("wb") as said:
        return subprocess.Popen(words, cwd=folder, stdout=said, stderr=said, start_new_session=True)


def _child(root: Path) -> int:
    """Return the process of the run that works now."""
    for path in (root / "ledger").glob("*.jsonl"):
        for text in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(text)
            if entry["state"] == "running" and (root / entry["run_id"] / "events.jsonl").exists():
                return int(entry["pid"])
    return 0


def _gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_signal_stops_what_runs_and_starts_nothing_more(tmp_path: Path, launcher: str) -> None:
    root = tmp_path / "study"
    started = _start(tmp_path, f"hydra/launcher={launcher}")
    child = until(lambda: _child(root), "a run at work")
    started.send_signal(signal.SIGTERM)
    assert started.wait(PATIENCE_S) == 75
    assert _gone(child)
    assert "the sweep got SIGTERM" in (tmp_path / "said.txt").read_text(encoding="utf-8")
    assert states(root)["LR-orders-2"][-1] == "stopped"
    assert not (root / ".launch").exists()


def test_runs_stop_when_the_sweep_is_killed(tmp_path: Path) -> None:
    started = _start(tmp_path)
    child = until(lambda: _child(tmp_path / "study"), "a run at work")
    started.kill()
    started.wait()
    until(lambda: _gone(child), "the end of the run")


def test_a_killed_run_harms_no_other_and_is_resumed_after_them(tmp_path: Path) -> None:
    root = tmp_path / "study"
    started = _start(tmp_path, "env.workers=16", "rehearsal.latency_s=0.3")
    os.kill(until(lambda: _child(root), "a run at work"), signal.SIGKILL)
    assert started.wait(PATIENCE_S) == 0, (tmp_path / "said.txt").read_text(encoding="utf-8")
    seen = states(root)
    assert seen["LR-orders-2"] == ["planned", "running", "failed", "running", "done"]
    assert seen["LR-orders-8"][-1] == "done"


def test_a_run_over_its_time_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    result = sweep(tmp_path, "rehearsal.latency_s=60,0", "sweep.max_run_s=25")
    assert result.code == 75, result.err
    assert "longer than sweep.max_run_s=25" in result.err
    assert sorted(seen[-1] for seen in states(tmp_path / "study").values()) == ["done", "stopped"]


def test_on_failure_stop_starts_nothing_more(tmp_path: Path) -> None:
    started = _start(tmp_path, "sweep.on_failure=stop")
    os.kill(until(lambda: _child(tmp_path / "study"), "a run at work"), signal.SIGKILL)
    assert started.wait(PATIENCE_S) == 1
    assert states(tmp_path / "study") == {
        "LR-orders-2": ["planned", "running", "failed"],
        "LR-orders-8": ["planned"],
    }
    assert "1 were not started: LR-orders-2 failed" in (tmp_path / "said.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["env.skill_init=default,missing.md"], "missing.md"),
        (["env.split_dir=nowhere", "ablation/lr=lr2,lr8"], "env.split_dir"),
        (["+sweep=longpair", "train.seed=1,2"], "only benchmark= takes several values"),
    ],
)
def test_what_is_missing_is_found_before_anything_starts(tmp_path: Path, more: list[str], said: str) -> None:
    result = sweep(tmp_path, *more)
    assert result.code == 2 and said in result.err
    assert not (tmp_path / "study").exists()


def test_a_grid_may_hold_the_benchmarks_own_value_beside_others(tmp_path: Path) -> None:
    result = sweep(tmp_path, "ablation/lr=null,lr2", "sweep.dry_run=true")
    assert result.code == 0, result.err
    own, lr = (point["overrides"] for point in plan(tmp_path / "study").values())
    assert lr == [*own, "ablation/lr=lr2"]
    assert list(plan(tmp_path / "study")) == ["DEFAULT-orders-5.5", "LR-orders-2"]


def test_a_study_of_one_value_takes_further_ones_and_no_other_base(tmp_path: Path) -> None:
    assert sweep(tmp_path, "ablation/lr=lr2").code == 0
    other = sweep(tmp_path, "ablation/lr=lr2,lr8", "train.num_epochs=2", "sweep.existing=resume")
    assert other.code == 73 and "train.num_epochs: 1 -> 2" in other.err
    before = tree(tmp_path / "study" / "LR-orders-2")
    more = sweep(tmp_path, "ablation/lr=null,lr2,lr8", "sweep.existing=skip_done")
    assert more.code == 0, more.err
    assert list(states(tmp_path / "study")) == ["LR-orders-2", "DEFAULT-orders-5.5", "LR-orders-8"]
    assert tree(tmp_path / "study" / "LR-orders-2") == before
