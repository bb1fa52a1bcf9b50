"""When runs of a sweep may start, and which keys a sweep takes."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.sweep.commands import PATIENCE_S, SMALL, said, start, states, sweep, until

pytestmark = pytest.mark.timeout(1500)


def most_at_once(root: Path) -> int:
    """Return the most runs that the ledger has alive in one moment."""
    alive: set[str] = set()
    most = 0
    for text in (root / "ledger.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        if entry["state"] in ("running", "waiting"):
            alive.add(entry["run_id"])
        else:
            alive.discard(entry["run_id"])
        most = max(most, len(alive))
    return most


def test_a_start_waits_while_too_little_memory_is_free(tmp_path: Path) -> None:
    root = tmp_path / "study"
    began = start(tmp_path, "ablation/lr=lr2,lr8", "sweep.min_free_memory_gb=1000000")
    until(lambda: "a start waits for memory" in said(tmp_path), "the word that it waits")
    began.send_signal(signal.SIGTERM)
    assert began.wait(PATIENCE_S) == 75, said(tmp_path)
    assert states(root) == {"LR-orders-2": ["planned"], "LR-orders-8": ["planned"]}
    assert "GB are free, sweep.min_free_memory_gb=1e+06" in said(tmp_path)


def test_a_ceiling_of_one_lets_runs_of_a_benchmark_go_one_after_the_other(tmp_path: Path) -> None:
    root = tmp_path / "study"
    ceiling = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=3", "sweep.max_parallel={orders:1}")
    result = sweep(tmp_path, "ablation/lr=lr2,lr8,lr16", *ceiling)
    assert result.code == 0, result.err
    assert most_at_once(root) == 1


def test_as_many_runs_are_alive_as_there_are_places_and_never_more(tmp_path: Path) -> None:
    root = tmp_path / "study"
    places = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=3", "evaluation.reuse=off", "rehearsal.latency_s=0.5")
    result = sweep(tmp_path, "train.seed=range(9)", *places)
    assert result.code == 0, result.err
    assert "3 at once (hydra.launcher.n_jobs)" in result.err
    assert len(list(root.glob("*/summary.json"))) == 9 and most_at_once(root) == 3


@pytest.mark.parametrize(
    ("more", "said_of_it"),
    [
        ("sweep.max_parallel={oders:1}", "did you mean orders"),
        ("sweep.max_parallel={orders:0}", "at least 1"),
        ("sweep.existing=resum", "did you mean resume"),
        ("sweep.retries=-1", "at least 0"),
        ("validity.ignore=[code_verson]", "did you mean code_version"),
        ("sweep.imports=missing.csv", "'missing.csv' cannot be read"),
    ],
)
def test_a_wrong_value_is_told_before_anything_starts(tmp_path: Path, more: str, said_of_it: str) -> None:
    result = sweep(tmp_path, "ablation/lr=lr2,lr8", more)
    assert result.code == 2 and said_of_it in result.err
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("more", "said_of_it"),
    [
        ("+sweep=tables", "it needs -m"),
        ("sweep.max_usd=5", "budget.max_usd"),
        ("sweep.dry_run=true", "for sweeps (-m)"),
    ],
)
def test_a_single_run_refuses_what_it_would_not_hear_of(tmp_path: Path, more: str, said_of_it: str) -> None:
    result = run(tmp_path, "reflact-train", *SMALL, "env.out_root=x", more)
    assert result.code == 2 and said_of_it in result.err
    assert list(tmp_path.iterdir()) == []
