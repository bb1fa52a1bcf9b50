"""Two sweeps of one study that both found a run's directory free: one does the run, the other leaves it alone."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.sweep.commands import PATIENCE_S, at_work, said, start, states, until

pytestmark = pytest.mark.timeout(1500)

# Long enough to be held at work, short enough to be waited for; and no run waits for one that is held.
PACE = ("rehearsal.latency_s=1", "env.workers=8", "evaluation.reuse=off")


@contextmanager
def held(root: Path, run_id: str) -> Iterator[None]:
    """Hold a run where it is, as a slow machine would, once it has said what it is."""
    until((root / run_id / "config.json").exists, f"the record of {run_id}")
    pid = until(lambda: at_work(root, run_id), f"{run_id} at work")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def ended(began: subprocess.Popen[bytes], folder: Path) -> tuple[int, str]:
    """Wait for a started sweep; return its exit code and what it said."""
    return began.wait(PATIENCE_S), said(folder)


def test_what_another_sweep_does_in_the_meantime_is_left_to_it_and_is_no_failure(tmp_path: Path) -> None:
    root, grid = tmp_path / "study", "ablation/lr=lr2,lr8,lr16"
    second = tmp_path / "second"
    second.mkdir()
    first = start(tmp_path, *PACE, grid)
    with held(root, "LR-orders-2"):
        # It finds one run active, and does the two that the first sweep believes to be its own.
        other = start(second, *PACE, grid, f"hydra.sweep.dir={root}")
        until(lambda: (root / "LR-orders-8" / "summary.json").exists(), "the end of LR-orders-8")
        with held(root, "LR-orders-16"):
            os.kill(at_work(root, "LR-orders-2"), signal.SIGCONT)
            code, told = ended(first, tmp_path)
            assert code == 0, told
            assert f"LR-orders-8: done in {root}, by another sweep" in told
            assert f"LR-orders-16: active in {root}, by another sweep" in told
            assert "1 of 3 are left to another sweep: LR-orders-16" in told and "refused" not in told
            assert {run_id: seen[-1] for run_id, seen in states(root).items()} == {
                "LR-orders-2": "done",
                "LR-orders-8": "done",
                "LR-orders-16": "running",
            }
    code, told = ended(other, second)
    assert code == 0, told
    assert {seen[-1] for seen in states(root).values()} == {"done"}
    assert all(seen.count("done") == 1 for seen in states(root).values()), "no run is done twice"


def test_a_run_of_another_configuration_is_in_the_way(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, *PACE, "ablation/lr=lr2,lr8")
    with held(root, "LR-orders-2"):
        words = ("harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false", "optimizer.learning_rate=3")
        assert run(tmp_path, "reflact-train", *words, f"env.out_root={root / 'LR-orders-8'}").code == 0
    code, told = ended(began, tmp_path)
    assert code == 1, told
    assert "LR-orders-8: refused" in told and "it holds a finished run" in told
    assert states(root)["LR-orders-8"][-1] == "refused"
