from __future__ import annotations

import errno
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflact.core.errors import DataError
from reflact.rundir import jsonl
from reflact.rundir.jsonl import JsonlWriter, Syncer, read_at, read_jsonl
from tests.rundir.children import Child
from tests.rundir.test_atomic import file_size_limit
from tests.rundir.trees import MEMORY

rows = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=12) | st.integers() | st.none(), max_size=3))


@pytest.fixture
def syncer() -> Iterator[Syncer]:
    syncer = Syncer()
    yield syncer
    syncer.close()


def lines(path: Path) -> list[dict[str, Any]]:
    return [obj for _, obj in read_jsonl(path)]


def write(path: Path, objects: list[dict[str, Any]]) -> list[int]:
    syncer = Syncer()
    writer = JsonlWriter(path, syncer)
    offsets = [writer.append(obj) for obj in objects]
    writer.close()
    syncer.close()
    return offsets


@settings(deadline=None, max_examples=60)
@given(rows)
def test_what_is_appended_is_read_at_its_offset(objects: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder, "rows.jsonl")
        offsets = write(path, objects)
        assert list(read_jsonl(path)) == list(zip(offsets, objects, strict=True))
        assert [read_at(path, offset) for offset in offsets] == objects


@settings(deadline=None, max_examples=60)
@given(rows.filter(bool), st.data())
def test_a_file_torn_anywhere_loses_only_the_torn_line(objects: list[dict[str, Any]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder, "rows.jsonl")
        write(path, objects)
        content = path.read_bytes()
        torn = content[: data.draw(st.integers(0, len(content)))]
        path.write_bytes(torn)
        whole = objects[: torn.count(b"\n")]
        assert lines(path) == whole
        write(path, [{"after": 1}])
        assert lines(path) == [*whole, {"after": 1}]


@pytest.mark.parametrize(
    "tail", [b"\0" * 40, b"\0" * 40 + b"\n", b'{"a": 1', b"[1]\n", b"\xff\xfe\n", b'{"a": 1}', b"\n"]
)
def test_a_broken_last_line_is_passed_over_and_removed(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"i": 0}\n{"i": 1}\n' + tail)
    assert lines(path) == [{"i": 0}, {"i": 1}]
    write(path, [{"i": 2}])
    assert path.read_bytes() == b'{"i": 0}\n{"i": 1}\n{"i": 2}\n'


def test_a_long_torn_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"i": 0}\n{"i": "' + b"x" * 300_000)
    write(path, [{"i": 1}])
    assert lines(path) == [{"i": 0}, {"i": 1}]


def test_a_corrupt_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"i": 0}\nbroken\n{"i": 1}\n')
    with pytest.raises(DataError, match=r"rows\.jsonl, line 2"):
        lines(path)
    with pytest.raises(DataError, match="byte 9"):
        read_at(path, 9)


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "none.jsonl") == []


def test_a_failed_append_leaves_no_part_of_itself(tmp_path: Path, syncer: Syncer) -> None:
    path = tmp_path / "rows.jsonl"
    writer = JsonlWriter(path, syncer)
    writer.append({"i": 0})
    with file_size_limit(1000), pytest.raises(OSError, match="File too large") as caught:
        writer.append({"i": "x" * 5000})  # the system writes a part of it before it refuses the rest
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b'{"i": 0}\n'
    assert writer.append({"i": 1}) == 9
    writer.close()
    assert lines(path) == [{"i": 0}, {"i": 1}]


def test_a_full_disk_after_a_short_write_is_undone(
    tmp_path: Path, syncer: Syncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = JsonlWriter(tmp_path / "rows.jsonl", syncer)
    real = os.write
    calls = 0

    def full(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            return real(fd, data[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "write", full)
        writer.append({"i": 0})
    assert (tmp_path / "rows.jsonl").read_bytes() == b""
    writer.close()


def test_a_short_write_is_completed(tmp_path: Path, syncer: Syncer, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JsonlWriter(tmp_path / "rows.jsonl", syncer)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, data[:4]))
        writer.append({"text": "longer than four"})
    writer.close()
    assert lines(tmp_path / "rows.jsonl") == [{"text": "longer than four"}]


def test_a_line_that_cannot_be_undone_blocks_the_file(
    tmp_path: Path, syncer: Syncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    writer = JsonlWriter(path, syncer)

    def failing(*_: object) -> int:
        raise OSError(errno.EIO, "gone")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="gone"):
        patch.setattr(os, "ftruncate", failing)
        patch.setattr(os, "write", failing)
        writer.append({"i": 0})
    with pytest.raises(OSError, match="could not be undone"):
        writer.append({"i": 1})
    writer.close()


def test_threads_do_not_mix_their_lines(tmp_path: Path, syncer: Syncer) -> None:
    path = tmp_path / "rows.jsonl"
    writer = JsonlWriter(path, syncer)
    found: dict[int, int] = {}

    def work(base: int) -> None:
        for i in range(base, base + 200):
            found[i] = writer.append({"i": i, "text": "x" * (i % 50)})

    threads = [threading.Thread(target=work, args=(base,)) for base in (0, 1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert {obj["i"]: offset for offset, obj in read_jsonl(path)} == found


def test_kill_9_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom reflact.rundir.jsonl import *\n"
        "writer = JsonlWriter(Path(sys.argv[1]), Syncer())\n"
        "for i in range(10**9):\n    writer.append({'i': i, 'text': 'x' * 3000}); print(i, flush=True)"
    )
    path = tmp_path / "rows.jsonl"
    with Child(code, str(path)) as child:
        for _ in range(80):
            last = int(child.line())
        child.kill()
    done = [obj["i"] for obj in lines(path)]
    assert done == list(range(len(done)))
    assert len(done) > last
    write(path, [{"i": -1}])
    assert lines(path)[-1] == {"i": -1}


def test_a_closed_file_takes_no_line(tmp_path: Path, syncer: Syncer) -> None:
    writer = JsonlWriter(tmp_path / "rows.jsonl", syncer)
    writer.close()
    writer.close()
    writer.sync()
    with pytest.raises(ValueError, match="closed"):
        writer.append({})


def test_a_line_is_one_write(tmp_path: Path, syncer: Syncer, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JsonlWriter(tmp_path / "rows.jsonl", syncer)
    real, written = os.write, []

    def counted(fd: int, data: bytes) -> int:
        written.append(bytes(data))
        return real(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(jsonl.os, "write", counted)
        writer.append({"text": "é\n"})
    writer.close()
    assert written == [(json.dumps({"text": "é\n"}, ensure_ascii=False) + "\n").encode()]
