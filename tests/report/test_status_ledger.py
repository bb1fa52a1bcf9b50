"""What `reflact status` takes from a sweep's plan and ledger."""

import json
import subprocess
import sys
import time
from io import StringIO

import pytest
from rich.console import Console

from reflact.core.names import RunState
from reflact.report.status import StatusBoard
from reflact.report.status_view import board, totals, trouble
from reflact.rundir.archive import archive
from reflact.sweep.ledger import Ledger
from tests.report.script import Script

DIES = """
import os, sys
from pathlib import Path
from reflact.rundir.claim import Claim
Claim.take(Path(sys.argv[1]), resume=False, timeout_s=300, heartbeat_s=5)
os._exit(0)
"""


@pytest.fixture
def root(tmp_path):
    """A sweep with one run whose process is gone without a word, and three that have no directory."""
    subprocess.run([sys.executable, "-c", DIES, str(tmp_path / "a")], check=True, timeout=120)
    script = Script()
    script.begin()
    script.write(tmp_path / "a")
    points = [
        {
            "run_id": name,
            "benchmark": "orders",
            "state": "run",
            "out_dir": name,
            "est_tokens": 1000,
            "est_cost_usd": 2.0,
        }
        for name in "abcd"
    ]
    (tmp_path / "plan.json").write_text(json.dumps({"points": points}))
    return tmp_path


def seen(root):
    return {line.path.rpartition("/")[2]: line for line in StatusBoard([root]).refresh(time.time())}


def note(root, run_id, state, cause=""):
    Ledger(root, time.time).write(
        run_id, state, benchmark="orders", out_dir=str(root / run_id), cause=cause, message="m"
    )


def test_the_ledger_says_what_a_killed_run_could_not(root):
    assert seen(root)["a"].state == RunState.STALE
    note(root, "a", RunState.RUNNING)
    assert seen(root)["a"].state == RunState.STALE, "nobody has seen its end yet"
    note(root, "a", RunState.FAILED, "SIGKILL")
    line = seen(root)["a"]
    assert (line.state, line.cause, line.message) == ("failed", "SIGKILL", "m")


def test_runs_without_a_directory_have_the_state_that_they_ended_in(root):
    note(root, "b", RunState.REFUSED, "refused")
    note(root, "c", RunState.FAILED, "bug")
    note(root, "d", RunState.PLANNED)
    assert [seen(root)[name].state for name in "bcd"] == ["refused", "failed", "planned"]


def test_a_root_that_was_moved_keeps_its_states(root, tmp_path_factory):
    note(root, "a", RunState.FAILED, "SIGKILL")
    moved = tmp_path_factory.mktemp("elsewhere") / "study"
    root.rename(moved)
    assert seen(moved)["a"].state == "failed"


def test_what_was_planned_stands_beside_what_was_spent(root):
    lines = list(seen(root).values())
    assert lines[0].tokens_most == 1000 and lines[0].cost_most_usd == 2.0
    assert "planned 4k tokens at most, $8.00" in totals(lines).plain
    (root / "plan.json").unlink()
    assert "planned" not in totals(list(seen(root).values())).plain


def test_a_damaged_ledger_hides_no_run(root):
    (root / "ledger").mkdir()
    (root / "ledger" / "x.jsonl").write_text("{}\nnot json\n{}\n")
    assert seen(root)["a"].state == RunState.STALE


def test_a_failed_run_that_was_archived_is_to_be_done_again(root):
    note(root, "a", RunState.FAILED, "SIGKILL")
    archive(root / "a", "killed", time.time)
    assert seen(root)["a"].state == RunState.PLANNED


def test_runs_of_a_sweep_go_on_with_the_command_of_the_sweep(root):
    note(root, "a", RunState.FAILED, "SIGKILL")
    alone = trouble(seen(root)["a"])
    assert f"env.out_root={root / 'a'} run.resume=true" in alone, "no plan says how it was started"
    plan = json.loads((root / "plan.json").read_text())
    words = ["reflact-train", "-m", "ablation/lr=lr2,lr8", "env.split_root=my data"]
    (root / "plan.json").write_text(json.dumps({**plan, "command": words}))
    lines = list(seen(root).values())
    expected = (
        f"reflact-train -m ablation/lr=lr2,lr8 'env.split_root=my data' hydra.sweep.dir={root} sweep.existing=resume"
    )
    assert [line.resume for line in lines] == [expected, "", "", ""], "what has not begun has nothing to go on with"
    assert trouble(lines[0]).endswith(f"; go on with {expected}") and "run.resume" not in trouble(lines[0])
    said = Console(width=1000, record=True, file=StringIO())
    note(root, "b", RunState.FAILED, "bug")
    said.print(board(list(seen(root).values()), 0))
    assert said.export_text().count(expected) == 1
