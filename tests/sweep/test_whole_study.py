"""A study that was killed, resumed, extended, handed over and moved has the tables of one that ran through."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from reflact.report.tables.compile import compile_tables, files_of, open_desk
from tests.cli.commands import Result
from tests.sweep import commands
from tests.sweep.commands import at_work, gone, plan, said, start, until

pytestmark = pytest.mark.timeout(1500)

MADE = ("rehearsal.latency_s=0.05", "train.batch_size=16", "evaluation.eval_test=true")
TWO = "ablation/minibatch=minibatch8,minibatch4"
THREE = "ablation/minibatch=minibatch8,minibatch4,minibatch2"


def sweep(folder: Path, *more: str) -> Result:
    folder.mkdir(exist_ok=True)
    return commands.sweep(folder, *MADE, *more)


def tables(*roots: Path) -> dict[str, str]:
    """Return the tables of some roots; how long a run took is the one thing that may differ."""
    for root in roots:
        for path in root.glob("*/summary.json"):
            summary = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps({**summary, "wall_time_s": 1.0}), encoding="utf-8")
    return files_of(compile_tables(open_desk(roots)))


def test_tables_do_not_tell_what_a_study_went_through(tmp_path: Path) -> None:
    assert sweep(tmp_path / "through", THREE).code == 0

    broken = tmp_path / "broken"
    broken.mkdir()
    root = broken / "study"
    began = start(broken, *MADE, TWO)
    run_process = until(lambda: at_work(root, "MBS-orders-4"), "the second run at work")
    until(lambda: (root / "MBS-orders-4" / "steps").exists(), "its first step")
    os.kill(began.pid, signal.SIGKILL)
    began.wait()
    until(lambda: gone(run_process), "the end of its run")
    resumed = sweep(broken, TWO, "sweep.existing=resume")
    assert resumed.code == 0, resumed.err + said(broken)
    moved = tmp_path / "elsewhere"
    broken.rename(moved)
    extended = sweep(moved, THREE, "sweep.existing=skip_done")
    assert extended.code == 0, extended.err
    assert [point["state"] for point in plan(moved / "study").values()] == ["skip", "skip", "run"]
    assert tables(moved / "study") == tables(tmp_path / "through" / "study")


def test_a_second_machine_does_exactly_the_rest(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert sweep(first, TWO).code == 0
    rest = sweep(second, THREE, f"sweep.known_roots=[{first / 'study'}]")
    assert rest.code == 0, rest.err
    points = plan(second / "study")
    assert {name: point["state"] for name, point in points.items()} == {
        "DEFAULT-orders-5.5": "skip",
        "MBS-orders-4": "skip",
        "MBS-orders-2": "run",
    }
    assert sorted(path.name for path in (second / "study").glob("*/summary.json")) == ["summary.json"]
    both = tables(second / "study", first / "study")
    assert (second / "study" / "tables" / "mbs.csv").read_text(encoding="utf-8").count(",measured,") == 2
    # One of the two had to evaluate the initial skill itself, which the other studies share.
    assert sweep(tmp_path / "through", THREE).code == 0
    whole = tables(tmp_path / "through" / "study")
    assert scores(both) == scores(whole)


def scores(files: dict[str, str]) -> dict[str, list[str]]:
    """Return the lines of the tables in CSV without what a run cost."""
    costs = ("tokens", "tokens_reused", "cost_usd", "cost_reused_usd")
    found = {}
    for name, text in files.items():
        if name.endswith(".csv") and ".invalid" not in name:
            head, *lines = text.splitlines()
            kept = [place for place, column in enumerate(head.split(",")) if column not in costs]
            found[name] = [",".join(line.split(",")[place] for place in kept) for line in lines]
    return found
