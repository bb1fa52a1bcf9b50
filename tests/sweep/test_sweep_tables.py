"""The tables that a sweep leaves, however it ended."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from reflact.sweep.tables import TableBook
from tests.sweep.commands import PATIENCE_S, at_work, plan, rows, said, start, states, sweep, until

pytestmark = pytest.mark.timeout(1500)

FOUR = ("ablation/minibatch=minibatch8,minibatch1,minibatch2,minibatch4", "sweep.retries=0")
LAST = "MBS-orders-4"


def table(root: Path) -> dict[str, str]:
    return {row["value"]: row["state"] for row in rows(root / "tables" / "mbs.csv")}


def test_a_killed_run_is_a_row_and_the_others_have_their_numbers(tmp_path: Path) -> None:
    root = tmp_path / "study"
    broken = start(tmp_path, *FOUR, "rehearsal.latency_s=0.2")
    os.kill(until(lambda: at_work(root, LAST), "the last run at work"), signal.SIGKILL)
    assert broken.wait(PATIENCE_S) == 1, said(tmp_path)
    assert table(root) == {"8": "done", "1": "done", "2": "done", "4": "failed (SIGKILL)"}
    filled = [row for row in rows(root / "tables" / "mbs.csv") if row["best_selection"]]
    assert len(filled) == 3
    assert states(root)[LAST][-1] == "failed"


def test_tables_are_there_while_the_sweep_goes_on_and_after_a_signal(tmp_path: Path) -> None:
    root = tmp_path / "study"
    started = start(tmp_path, *FOUR, "rehearsal.latency_s=0.2")
    until(lambda: (root / "tables" / "mbs.csv").exists() and table(root).get("8") == "done", "a table with one run")
    assert started.poll() is None, said(tmp_path)
    os.kill(started.pid, signal.SIGTERM)
    assert started.wait(PATIENCE_S) == 75, said(tmp_path)
    ended = table(root)
    assert ended["8"] == "done" and "planned" in ended.values()
    assert all(state in ("done", "planned", "stopped (interrupted)") for state in ended.values()), ended


def test_a_sweep_ends_with_where_its_tables_are_and_shows_no_insides_of_its_launcher(tmp_path: Path) -> None:
    result = sweep(tmp_path, "ablation/lr=lr2")
    assert result.code == 0, result.err
    last = result.err.strip().splitlines()[-1]
    assert last == "reflact: the tables are in study/tables/tables.md, with the reasons why runs are left out (1)"
    assert "no complete DEFAULT-orders run" in (tmp_path / "study/tables/tables.md").read_text(encoding="utf-8")
    assert "Joblib.Parallel" not in result.err and "ablation/lr=lr2" in result.err


def test_tables_that_cannot_be_made_are_an_error_of_the_sweep(tmp_path: Path) -> None:
    root = tmp_path / "study"
    root.mkdir()
    (root / "tables").write_text("mine", encoding="utf-8")
    result = sweep(tmp_path, "ablation/lr=lr2")
    assert result.code == 1
    assert "the tables could not be compiled: study/tables is a file" in result.err
    assert plan(root)["LR-orders-2"]["state"] == "run" and states(root)["LR-orders-2"][-1] == "done"


def test_a_second_compilation_waits_and_a_hurried_one_is_left_out(tmp_path: Path) -> None:
    book = TableBook(tmp_path)
    with book._locked(wait=True):
        assert not book.compile_if_due()
    assert book.compile_if_due()
    lock = tmp_path / "tables" / ".lock"
    lock.write_text("[99999999999, 5.0]", encoding="ascii")
    assert book.compile_if_due(), "a clock that was wrong delays nothing"
    now, took = lock.stat().st_mtime, 1000.0
    lock.write_text(f"[{now}, {took}]", encoding="ascii")
    assert not book.compile_if_due()
    book.compile()


@pytest.mark.parametrize("root", ["missing"])
def test_a_known_root_that_is_gone_is_named(tmp_path: Path, root: str) -> None:
    result = sweep(tmp_path, "ablation/lr=lr2", f"sweep.known_roots=[{root}]")
    assert result.code == 2 and root in result.err


def test_a_sweep_over_seeds_is_a_mean_with_its_spread(tmp_path: Path) -> None:
    result = sweep(tmp_path, "train.seed=1,2", "evaluation.eval_test=true")
    assert result.code == 0, result.err
    tables = tmp_path / "study" / "tables"
    (row,) = rows(tables / "default.csv")
    assert (row["runs"], row["seeds"]) == ("2", "1 2")
    scores = [
        json.loads(path.read_text(encoding="utf-8"))["best"]["test"]["hard"]
        for path in (tmp_path / "study").glob("*/summary.json")
    ]
    assert float(row["best_test"]) == pytest.approx(sum(scores) / 2) and row["best_test_sd"]
    assert not (tables / "grid.csv").exists(), "they are no points of their own"
