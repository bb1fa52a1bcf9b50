"""A worker of the launcher that dies takes nothing with it: its run is resumed, the others go on."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.sweep.commands import PATIENCE_S, at_work, rows, said, start, states, until

pytestmark = pytest.mark.timeout(1500)


def worker_of(root: Path) -> int:
    """Return the process that watches over a run: it has written the line that the run began."""
    for path in (root / "ledger").glob("*.jsonl"):
        if any(json.loads(text)["state"] == "running" for text in path.read_text(encoding="utf-8").splitlines()):
            return int(path.stem.split("-")[-2])
    raise AssertionError("no run was begun")


def test_a_run_whose_worker_is_killed_is_resumed_and_the_sweep_ends_well(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(
        tmp_path,
        *("ablation/minibatch=minibatch8,minibatch4,minibatch2", "rehearsal.latency_s=0.3"),
        "hydra/launcher=joblib",
    )
    until(lambda: at_work(root), "a run at work")
    worker = worker_of(root)
    assert worker != began.pid
    os.kill(worker, signal.SIGKILL)
    assert began.wait(PATIENCE_S) == 0, said(tmp_path)
    seen = states(root)
    assert {found[-1] for found in seen.values()} == {"done"}, seen
    assert any("failed" in found for found in seen.values()), seen
    assert all(row["state"] == "done" for row in rows(root / "tables" / "mbs.csv"))
    assert not (root / ".launch").exists()
