"""`reflact status` must tell the truth about runs, from their files, and cheaply."""

import json
import os
import subprocess
import sys
import time

import pytest

from reflact.core.names import RunState
from reflact.report import status as module
from reflact.report.run_names import run_names
from reflact.report.status import RunLine, StatusBoard, board_json, counts
from reflact.report.status_view import board, totals, trouble
from reflact.rundir.claim import Claim
from tests.report.script import Script
from tests.report.test_closing import SUMMARY

HOLDER = """
import sys, time
from pathlib import Path
from reflact.rundir.claim import Claim
Claim.take(Path(sys.argv[1]), resume=False, timeout_s=300, heartbeat_s=0.2)
print("claimed", flush=True)
time.sleep(600)
"""


def claim(root):
    return Claim.take(root, resume=False, timeout_s=300, heartbeat_s=5)


def drawn(lines, width=0) -> str:
    import io

    from reflact.report.console import make_console

    stream = io.StringIO()
    make_console(stream, width=width or 400).print(board(lines, width))
    return stream.getvalue()


@pytest.fixture
def live(tmp_path):
    """A run that this process owns, in the middle of a selection evaluation."""
    script = Script()
    script.begin()
    script.phase("baseline/selection", "selection", 20, hard=0.35)
    script.start("steps/step_0001/selection", "selection", 20, epoch=1, step=1)
    for item in range(19):
        script.row("steps/step_0001/selection", item, "empty" if item == 3 else "ok")
    script.call(tokens=1000, cost=0.5)
    script.retry(429, cause="rate_limit", attempt=1)
    script.retry(429, cause="rate_limit", attempt=2, after=1)
    with claim(tmp_path / "one"):
        script.write(tmp_path / "one")
        yield tmp_path, script


def test_a_run_under_way_shows_where_it_is(live):
    root, script = live
    (line,) = StatusBoard([root]).refresh(script.now + 4)
    assert (line.id, line.state, line.pid) == ("LR-orders-8", "running", os.getpid())
    assert (line.phase, line.done, line.n) == ("steps/step_0001/selection", 19, 20)
    assert line.waiting == "1 waiting, retry 2 of 5 (429)"
    assert (line.epoch, line.epochs, line.step, line.steps) == (1, 2, 1, 4)
    assert line.rate_limits == 2
    assert line.rows["empty"] == 1
    assert line.tokens == 1100 and line.cost_usd == 0.5
    assert line.eta_s is not None and line.scores["initial"] == 0.35
    text = drawn([line])
    assert "selection 19/20" in text and "running" in text and "$0.50" in text


def test_each_look_reads_only_what_is_new(live, monkeypatch):
    root, script = live
    offsets = []
    real = module.read_events

    def spied(path, offset):
        offsets.append(offset)
        return real(path, offset)

    monkeypatch.setattr(module, "read_events", spied)
    board_ = StatusBoard([root])
    board_.refresh(script.now)
    size = (root / "one" / "events.jsonl").stat().st_size
    script.row("steps/step_0001/selection", "last")
    script.write(root / "one")
    (line,) = board_.refresh(script.now)
    assert offsets == [0, size]
    assert line.done == 20


def test_a_finished_run_is_read_from_its_summary_alone(tmp_path, monkeypatch):
    with claim(tmp_path / "one"):
        Script().write(tmp_path / "one")
        (tmp_path / "one" / "summary.json").write_text(json.dumps({**SUMMARY, "status": "completed"}))
    monkeypatch.setattr(module, "read_events", None)
    (line,) = StatusBoard([tmp_path]).refresh(time.time())
    assert (line.id, line.state, line.valid) == ("LR-orders-8", "done", True)
    assert (line.scores["initial"], line.scores["best"], line.scores["test_best"]) == (0.35, 0.5, 0.405)
    assert (line.rate_limits, line.tokens, line.cost_usd) == (3, 1500, 1.25)
    assert line.rows == {"ok": 95, "timeout": 2, "empty": 1, "refused": 0, "error": 0}


def test_an_invalid_run_says_why_below_the_table(tmp_path):
    reasons = ["empty: 62% of 8 selection rows, limit 2%"]
    with claim(tmp_path / "one"):
        Script().write(tmp_path / "one")
        summary = {**SUMMARY, "status": "completed", "validity": {"valid": False, "reasons": reasons}}
        (tmp_path / "one" / "summary.json").write_text(json.dumps(summary))
    lines = StatusBoard([tmp_path]).refresh(time.time())
    assert counts(lines) == {"done": 1, "invalid": 1}
    assert "invalid: empty: 62% of 8 selection rows" in drawn(lines)


def test_a_killed_run_is_stale_at_once_and_a_live_one_on_another_host_is_not(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "one")], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"claimed\n"
    script = Script(time.time())
    script.begin()
    script.write(tmp_path / "one")
    board_ = StatusBoard([tmp_path])
    assert board_.refresh(time.time())[0].state == "running"
    holder.kill()
    holder.wait()
    (line,) = board_.refresh(time.time())
    assert line.state == "stale"
    assert line.eta_s is None
    assert f"pid {holder.pid} on host" in trouble(line) and "run.resume=true" in trouble(line)
    elsewhere(tmp_path / "one" / "claims")
    assert StatusBoard([tmp_path]).refresh(time.time())[0].state == "running"


def elsewhere(claims):
    """Make the claim one of a process on another machine, with a fresh heartbeat."""
    (path,) = claims.glob("*.json")
    data = json.loads(path.read_text())
    data |= {"host": "another", "boot_id": "another"}
    path.write_text(json.dumps(data))


def test_a_stopped_run_says_why_and_how_to_go_on(tmp_path):
    script = Script(time.time())
    script.begin()
    script.stop("stopped", "budget", "the budget budget.max_tokens=10 is spent")
    with claim(tmp_path / "one"):
        script.write(tmp_path / "one")
    (line,) = StatusBoard([tmp_path]).refresh(time.time())
    assert (line.state, line.cause) == ("stopped", "budget")
    text = drawn([line])
    assert "stopped (budget)" in text
    assert f"env.out_root={tmp_path}/one run.resume=true" in text


def test_planned_runs_of_a_sweep_are_lines_too(live):
    root, script = live
    plan = {
        "points": [
            {"run_id": "LR-orders-8", "benchmark": "orders", "state": "run", "out_dir": str(root / "one")},
            {"run_id": "LR-orders-16", "benchmark": "orders", "state": "run", "out_dir": str(root / "two")},
            {"run_id": "LR-orders-4", "benchmark": "orders", "state": "alias", "same_as": "LR-orders-8"},
        ]
    }
    (root / "plan.json").write_text(json.dumps(plan))
    lines = StatusBoard([root]).refresh(script.now)
    assert [(line.id, line.state) for line in lines] == [("LR-orders-8", "running"), ("LR-orders-16", "planned")]


def test_a_run_below_two_roots_is_one_line(live):
    root, script = live
    assert len(StatusBoard([root, root / "one"]).refresh(script.now)) == 1


def test_a_run_that_is_moved_away_between_two_looks_is_gone(live, tmp_path_factory):
    root, script = live
    board_ = StatusBoard([root])
    board_.refresh(script.now)
    (root / "one").rename(tmp_path_factory.mktemp("elsewhere") / "one")
    assert board_.refresh(script.now) == []


def test_damaged_events_are_a_message_not_a_crash(live):
    root, script = live
    with (root / "one" / "events.jsonl").open("ab") as file:
        file.write(b"\x00\x00 not json\n" + b'{"t": 1, "kind": "row"}\n')
    (line,) = StatusBoard([root]).refresh(script.now)
    assert line.state == "running"
    assert "events.jsonl" in line.message


def test_json_has_the_documented_keys(live):
    root, script = live
    lines = StatusBoard([root]).refresh(script.now)
    data = json.loads(json.dumps(board_json([root], lines, script.now)))
    assert list(data) == ["schema_version", "time", "roots", "counts", "runs"]
    assert data["counts"] == {"running": 1}
    assert list(data["runs"][0]) == [
        "id", "path", "state", "cause", "message", "valid", "reasons", "benchmark", "harness", "student", "teacher",
        "simulated", "epoch", "epochs", "step", "steps", "phase", "done", "n", "waiting", "scores", "rows",
        "rate_limits", "retries", "rows_per_minute", "last_write_s", "elapsed_s", "eta_s", "tokens", "cost_usd",
        "tokens_most", "cost_most_usd", "pid", "host", "resume",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_each_run_is_one(live, width):
    root, script = live
    lines = StatusBoard([root]).refresh(script.now) * 3
    text = drawn(lines, width)
    assert all(len(row) <= width for row in text.splitlines())
    assert sum(row.startswith("LR") for row in text.splitlines()) == 3


def test_ids_from_files_cannot_touch_the_terminal(live):
    root, script = live
    script.begin(run_id="x\x1b[2J[red]", resumed=True)
    script.write(root / "one")
    text = drawn(StatusBoard([root]).refresh(script.now))
    assert "\x1b" not in text and "x[red]" in text


def test_every_state_has_its_place_and_colour():
    from reflact.report.render import STATE_STYLES
    from reflact.report.status_view import ORDER

    assert set(ORDER) == {state.value for state in RunState} == set(STATE_STYLES)


def test_a_thousand_looks_at_finished_runs_are_cheap(tmp_path):
    for number in range(50):
        with claim(tmp_path / str(number)):
            Script().write(tmp_path / str(number))
            (tmp_path / str(number) / "summary.json").write_text(json.dumps({**SUMMARY, "status": "completed"}))
    board_ = StatusBoard([tmp_path])
    assert len(board_.refresh(0.0)) == 50
    began = time.thread_time()
    for _ in range(20):
        board_.refresh(1.0)
    assert time.thread_time() - began < 1.0


def test_runs_of_the_same_id_are_told_apart_by_where_they_are() -> None:
    places = ("/a/first/LR-docvqa-8", "/b/second/LR-docvqa-8", "/b/copy", "/b/second/LR-docvqa-4", "/x/in/s", "/y/in/s")
    ids = ("LR-docvqa-8", "LR-docvqa-8", "LR-docvqa-8", "LR-docvqa-4", "s", "s")
    lines = [RunLine(id=name, path=path, state="done") for name, path in zip(ids, places, strict=True)]
    names = list(run_names(lines).values())
    assert names == [
        "LR-docvqa-8 (first)",
        "LR-docvqa-8 (second)",
        "LR-docvqa-8 (copy)",
        "LR-docvqa-4",
        "s (x/in)",
        "s (y/in)",
    ]
    text = drawn(lines)
    assert all(f"{name} " in text for name in names)


def test_totals_of_no_runs_say_so() -> None:
    assert totals([]).plain == "0 runs"


def test_a_total_tells_simulated_money_from_money() -> None:
    paid, rehearsed = (
        RunLine(id=name, path=name, state="done", tokens=10, cost_usd=cost, simulated=simulated)
        for name, cost, simulated in (("a", 2.0, False), ("b", 3.0, True))
    )
    assert "$2.00" in totals([paid]).plain and "simulated" not in totals([paid]).plain
    assert "$3.00 simulated" in totals([rehearsed]).plain
    assert "$5.00, $3.00 of it simulated" in totals([paid, rehearsed]).plain
