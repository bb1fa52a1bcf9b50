"""Who makes a shared evaluation, and how others get its rows."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from reflact.core.usage import Usage
from reflact.engine.shared_rows import STALLED_S, Maker, SharedRows, source_of, usage_of
from reflact.rundir.claim import Claim
from reflact.rundir.jsonl import Syncer, read_jsonl
from reflact.rundir.layout import EvaluationFolder, RunLayout

KEY = "k" * 64


@dataclass
class Run:
    """A run that needs the evaluation."""

    claim: Claim
    shared: SharedRows
    folder: EvaluationFolder


def run(sweep: Path, name: str) -> Run:
    claim = Claim.take(sweep / name, resume=True, timeout_s=300, heartbeat_s=60)
    me = Maker(name, str(claim.root), claim.number)
    return Run(claim, SharedRows(sweep, KEY, me), RunLayout(claim.root).baseline("selection"))


def fill(folder: EvaluationFolder) -> None:
    folder.path.mkdir(parents=True)
    usage = '{"calls": 1, "prompt_tokens": 7, "completion_tokens": 3}'
    for path in (folder.results, folder.conversations):
        path.write_text(
            "".join(f'{{"key": "{key}", "id": "i", "repeat": 0, "usage": {usage}}}\n' for key in ("mine", "other")),
            encoding="utf-8",
        )


def test_one_makes_the_rows_and_the_others_copy_them(tmp_path: Path) -> None:
    first, second = run(tmp_path, "a"), run(tmp_path, "b")
    assert first.shared.claim() and first.shared.claim()
    assert not second.shared.claim() and second.shared.maker() == "a"
    fill(first.folder)
    first.shared.publish(first.folder)
    assert second.shared.made
    with closing(Syncer()) as syncer:
        assert second.shared.copy(second.folder, {"mine"}, syncer) == "a"
    assert [line["key"] for _, line in read_jsonl(second.folder.results)] == ["mine"]
    source = source_of(second.folder)
    assert source is not None and source["run_id"] == "a" and source_of(first.folder) is None
    reused = usage_of([first.folder, second.folder])
    assert reused == {
        "student": {"baseline": {"selection": Usage(calls=1, prompt_tokens=7, completion_tokens=3).to_json()}}
    }
    first.claim.release()
    second.claim.release()


def test_a_copy_that_is_made_twice_counts_once(tmp_path: Path) -> None:
    first, second = run(tmp_path, "a"), run(tmp_path, "b")
    fill(first.folder)
    first.shared.publish(first.folder)
    with closing(Syncer()) as syncer:
        second.shared.copy(second.folder, {"mine"}, syncer)
        second.shared.copy(second.folder, {"mine"}, syncer)
    reused = usage_of([second.folder])
    assert reused is not None and reused["student"]["baseline"]["selection"]["calls"] == 1


def test_who_waits_takes_over_from_a_maker_that_stopped(tmp_path: Path) -> None:
    first, second, third = run(tmp_path, "a"), run(tmp_path, "b"), run(tmp_path, "c")
    assert first.shared.claim() and not second.shared.claim()
    first.claim.release()
    assert second.shared.claim() and not third.shared.claim()
    again = run(tmp_path, "a")  # resumed: its former place as the maker is lost
    assert not again.shared.claim() and again.shared.maker() == "b"


def test_who_waits_takes_over_from_a_maker_that_is_stuck_or_was_moved_away(tmp_path: Path) -> None:
    first, second, third = run(tmp_path, "a"), run(tmp_path, "b"), run(tmp_path, "c")
    assert first.shared.claim()
    events = RunLayout(first.claim.root).events
    events.write_text("", encoding="utf-8")
    assert not second.shared.claim()
    old = events.stat().st_mtime - STALLED_S - 1
    os.utime(events, (old, old))
    assert second.shared.claim()
    second.claim.root.rename(tmp_path / "moved")
    assert third.shared.claim()
