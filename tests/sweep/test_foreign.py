"""Sweeps that another sweeper than ours leads: they have a ledger and tables all the same."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.commands import tree
from tests.sweep.commands import PATIENCE_S, SLOW, rows, said, start, states, sweep, until

pytestmark = pytest.mark.timeout(1500)

FOREIGN = ("hydra/sweeper=basic", "ablation/minibatch=minibatch8,minibatch2,minibatch4")
# Of three runs the second one ends badly.
ENDS_BADLY = ("rehearsal.rate_limit_rate=0,1", "limits.max_attempts=1", "hydra/sweeper=basic")


def seen(root: Path) -> dict[str, str]:
    """Return the last state of each run in the ledger."""
    return {run_id: found[-1] for run_id, found in states(root).items()}


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_ledger_and_tables_are_there_once(tmp_path: Path, launcher: str) -> None:
    root = tmp_path / "study"
    result = sweep(tmp_path, *FOREIGN, f"hydra/launcher={launcher}")
    assert result.code == 0, result.err
    assert states(root) == {number: ["running", "done"] for number in "012"}
    assert [row["value"] for row in rows(root / "tables" / "mbs.csv") if row["best_selection"]] == ["8", "2", "4"]
    assert (root / "1" / ".hydra" / "overrides.yaml").exists()


def test_our_own_sweeps_are_not_noted_twice(tmp_path: Path) -> None:
    assert sweep(tmp_path, "ablation/lr=lr2").code == 0
    assert states(tmp_path / "study") == {"LR-orders-2": ["planned", "running", "done"]}


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_tables_are_there_although_hydra_calls_no_hook_after_a_failure(tmp_path: Path, launcher: str) -> None:
    root = tmp_path / "study"
    result = sweep(tmp_path, *ENDS_BADLY, f"hydra/launcher={launcher}")
    assert result.code == 75 and "have no score after all rounds" in result.err
    assert "un-serialize" not in result.err, "a job that stopped is told as itself, also from another process"
    assert seen(root) == {"0": "done", "1": "stopped"}
    (line,) = [text for text in (root / "ledger.jsonl").read_text().splitlines() if '"stopped"' in text]
    assert json.loads(line)["cause"] == "rate_limit"
    assert (root / "tables" / "tables.md").exists()


def test_a_killed_process_is_seen_by_the_next_that_settles_the_books(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, *FOREIGN, *SLOW)
    until(lambda: (root / "0" / "events.jsonl").exists(), "a run at work")
    os.kill(began.pid, signal.SIGKILL)
    began.wait()
    before = tree(root)
    refused = sweep(tmp_path, *FOREIGN, *SLOW)
    assert refused.code == 73 and "holds runs already" in refused.err
    assert tree(root) == before


def test_an_interrupted_sweep_starts_nothing_more(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, *FOREIGN, *SLOW)
    until(lambda: (root / "0" / "events.jsonl").exists(), "a run at work")
    began.send_signal(signal.SIGTERM)
    assert began.wait(PATIENCE_S) == 75, said(tmp_path)
    assert seen(root) == {"0": "stopped"} and not (root / "1").exists()
    assert (root / "tables" / "tables.md").exists()


@pytest.mark.parametrize(
    "more",
    [
        "sweep.dry_run=true",
        "+sweep=tables",
        "sweep.existing=resume",
        "sweep.max_parallel={orders:1}",
        "ablation/lr=null,lr2",
    ],
)
def test_what_only_our_sweeper_does_is_refused(tmp_path: Path, more: str) -> None:
    result = sweep(tmp_path, *FOREIGN, more)
    assert result.code == 2 and "hydra/sweeper=reflact" in result.err
    assert not (tmp_path / "study").exists()


def test_a_budget_holds_for_all_runs_together(tmp_path: Path) -> None:
    result = sweep(tmp_path, *FOREIGN, "sweep.max_tokens=500")
    assert result.code == 75, "as a sweep of ours ends that was stopped"
    assert set(seen(tmp_path / "study").values()) == {"stopped"} and "sweep.max_tokens=500 is spent" in result.err
