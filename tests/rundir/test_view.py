from __future__ import annotations

import errno
from pathlib import Path

import pytest

from reflact.core.events import Event, RunFinished, RunStarted, RunStopped, Warned
from reflact.core.names import RunState
from reflact.rundir import view
from reflact.rundir.atomic import write_json
from reflact.rundir.refusal import ago, holds
from reflact.rundir.view import find_runs, view_run
from tests.rundir.test_events import log
from tests.rundir.trees import abandoned, age_access_times, portrait, take

STARTED = RunStarted("r", "b", "h", "s", "t", True, False, 1, "host", 1, 1)
STOPPED = RunStopped("stopped", "budget", "budget reached")
FAILED = RunStopped("failed", "bug", "a bug")


def run(root: Path, *events: Event) -> Path:
    """A run whose process has ended well after these events."""
    with take(root):
        log(root / "events.jsonl", *events)
    return root


def test_a_missing_and_an_empty_directory_are_planned(tmp_path: Path) -> None:
    for root in (tmp_path / "none", tmp_path):
        seen = view_run(root)
        assert (seen.state, seen.ours, seen.names) == (RunState.PLANNED, False, ())


def test_any_other_directory_has_no_state(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")
    assert (view_run(tmp_path).state, view_run(tmp_path).ours) == (None, False)


@pytest.mark.parametrize(
    ("events", "state", "cause"),
    [
        ((STARTED, STOPPED), RunState.STOPPED, "budget"),
        ((STARTED, FAILED), RunState.FAILED, "bug"),
        ((STARTED, STOPPED, STARTED, Warned("c", "m")), RunState.STOPPED, None),
        ((STARTED, FAILED, STARTED, STOPPED), RunState.STOPPED, "budget"),
    ],
)
def test_an_ended_process_left_a_stopped_or_failed_run(
    tmp_path: Path, events: tuple[Event, ...], state: RunState, cause: str | None
) -> None:
    seen = view_run(run(tmp_path / "run", *events))
    assert (seen.state, seen.stop_cause) == (state, cause)
    assert "unfinished run" in holds(seen)


def test_a_live_run_is_running_also_when_it_was_stopped_before(tmp_path: Path) -> None:
    with take(run(tmp_path / "run", STARTED, STOPPED), resume=True):
        seen = view_run(tmp_path / "run")
        assert (seen.state, seen.stop_cause) == (RunState.RUNNING, None)


def test_a_dead_owner_makes_a_run_stale(tmp_path: Path) -> None:
    seen = view_run(abandoned(tmp_path / "run", age_s=400))
    assert seen.state is RunState.STALE
    assert "host elsewhere is gone" in holds(seen)


def test_a_summary_makes_it_done(tmp_path: Path) -> None:
    root = run(tmp_path / "run", STARTED, RunFinished("completed"))
    write_json(root / "summary.json", {"status": "completed", "best": {"test": None, "selection": {"hard": 0.8125}}})
    seen = view_run(root)
    assert seen.state is RunState.DONE
    assert holds(seen) == "a finished run (selection score 0.8125)"


@pytest.mark.parametrize("content", [b"", b'{"status": "comp', b"[]", b'{"status": "running"}'])
def test_half_a_summary_is_none(tmp_path: Path, content: bytes) -> None:
    root = run(tmp_path / "run", STARTED, STOPPED)
    (root / "summary.json").write_bytes(content)
    assert view_run(root).state is RunState.STOPPED


def test_torn_events_are_no_obstacle(tmp_path: Path) -> None:
    root = run(tmp_path / "run", STARTED, STOPPED)
    with (root / "events.jsonl").open("ab") as file:
        file.write(b'{"t": 1, "kind": "run_st')
    assert view_run(root).stop_cause == "budget"


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=400)
    write_json(root / "summary.json", {"status": "completed"})
    age_access_times(tmp_path)
    before = portrait(tmp_path)
    view_run(root)
    find_runs(tmp_path)
    assert portrait(tmp_path) == before


def test_runs_are_found_once_in_order_and_not_inside_runs(tmp_path: Path) -> None:
    for name in ("b", "sweep/a", "archive/old", ".hidden/run", "b/steps/inner"):
        abandoned(tmp_path / name)
    (tmp_path / "notes").mkdir()
    (tmp_path / "sweep" / "up").symlink_to(tmp_path)
    (tmp_path / "sweep" / "self").symlink_to("self")
    (tmp_path / "zzz").symlink_to(tmp_path / "b")
    assert find_runs(tmp_path) == [tmp_path / "b", tmp_path / "sweep" / "a"]
    assert find_runs(tmp_path, archived=True)[0] == tmp_path / "archive" / "old"
    assert find_runs(tmp_path / "b") == [tmp_path / "b"]
    assert find_runs(tmp_path / "none") == []


def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    abandoned(tmp_path / "run")
    (tmp_path / "closed").mkdir()
    real = view.names_quiet

    def guarded(folder: Path) -> list[str]:
        if folder.name == "closed":
            raise PermissionError(errno.EACCES, "denied")
        return real(folder)

    monkeypatch.setattr(view, "names_quiet", guarded)
    assert find_runs(tmp_path) == [tmp_path / "run"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s ago"), (59, "59 s ago"), (300, "5 min ago"), (10_000, "3 h ago"), (400_000, "5 days ago")],
)
def test_time_spans_read_well(seconds: float, text: str) -> None:
    assert ago(seconds) == text
