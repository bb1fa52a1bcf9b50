from __future__ import annotations

from pathlib import Path

import pytest

from reflact.core.errors import DataError
from reflact.core.events import CallFinished, Event, PhaseEnded, Warned
from reflact.core.usage import Usage
from reflact.rundir.events import EventLog, read_events
from reflact.rundir.redact import Redactor
from reflact.rundir.syncer import Syncer


def log(path: Path, *events: Event, secrets: tuple[str, ...] = ()) -> None:
    syncer = Syncer()
    listener = EventLog(path, syncer, Redactor(secrets), lambda: 1700000000.12345)
    for event in events:
        listener(event)
    listener.close()
    syncer.close()


def warned(message: str) -> Warned:
    return Warned("code", message, {"n": 1})


def test_an_event_is_written_with_time_and_kind_first(tmp_path: Path) -> None:
    log(tmp_path / "events.jsonl", PhaseEnded("baseline/test", 2, 2, 0.5, None, {"ok": 2}))
    assert (tmp_path / "events.jsonl").read_text(encoding="utf-8") == (
        '{"t": 1700000000.123, "kind": "phase_ended", "name": "baseline/test", "n": 2, "scored": 2, "hard": 0.5, '
        '"soft": null, "statuses": {"ok": 2}}\n'
    )


def test_secrets_and_odd_values_do_not_reach_the_file(tmp_path: Path) -> None:
    event = Warned(
        "code", "key s3cr3t-value, Bearer abcdef123456", {"at": Path("/x"), "score": float("nan"), "s": (1,)}
    )
    log(
        tmp_path / "events.jsonl",
        event,
        CallFinished("s", "r", "t", "m", Usage(1), 0.1, 0.0, None),
        secrets=("s3cr3t-value",),
    )
    (first, second), _ = read_events(tmp_path / "events.jsonl")
    assert first["message"] == "key [redacted], Bearer [redacted]"
    assert first["detail"] == {"at": "/x", "score": None, "s": [1]}
    assert second["usage"]["calls"] == 1


def test_the_tail_is_read_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert read_events(path) == ([], 0)
    log(path, warned("a"))
    events, offset = read_events(path)
    assert [event["message"] for event in events] == ["a"]
    log(path, warned("李明"), warned("c"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])  # the display looks while the last line is being written
    events, offset = read_events(path, offset)
    assert [event["message"] for event in events] == ["李明"]
    path.write_bytes(whole)
    events, offset = read_events(path, offset)
    assert [event["message"] for event in events] == ["c"]
    assert read_events(path, offset) == ([], offset)


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log(path, warned("a" * 100))
    _, offset = read_events(path)
    path.unlink()
    log(path, warned("b"))
    assert [event["message"] for event in read_events(path, offset)[0]] == ["b"]


def test_a_corrupt_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"kind": "a"}\nbroken\n{"kind": "b"}\n')
    with pytest.raises(DataError, match=r"line 2: .*sed -i 2d"):
        read_events(path)
