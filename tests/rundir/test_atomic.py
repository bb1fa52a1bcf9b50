from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reflact.rundir.atomic import TEMPORARY_PREFIX, sweep_temporary, write_bytes, write_json, write_text
from tests.rundir.children import Child
from tests.rundir.trees import names


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_is_replaced_as_a_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.json"
    write_json(path, {"b": 1, "a": "李明"})
    assert path.read_bytes() == '{\n  "b": 1,\n  "a": "李明"\n}\n'.encode()
    write_text(path, "second")
    assert path.read_text(encoding="utf-8") == "second"
    assert names(path.parent) == ["a.json"]


def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_text(path, "old")
    with file_size_limit(1000), pytest.raises(OSError, match="File too large") as caught:
        write_bytes(path, b"x" * 5000)
    assert caught.value.filename == str(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a.md"]


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    write_text(path, "old")

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "fsync", interrupted)
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a.md"]


@pytest.mark.parametrize("text", ["\udce9", "half of a pair \ud83d", "\x00", "line\u2028separator"])
def test_odd_characters_survive_json_and_never_crash_a_text(tmp_path: Path, text: str) -> None:
    write_json(tmp_path / "a.json", {text: [text]})
    assert json.loads((tmp_path / "a.json").read_bytes()) == {text: [text]}
    write_text(tmp_path / "a.md", text)
    assert (tmp_path / "a.md").read_text(encoding="utf-8")


def test_numbers_that_json_lacks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"score": float("nan")})
    assert names(tmp_path) == []


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "x")
    assert names(tmp_path) == ["n" * 255]


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\nfrom pathlib import Path\nfrom reflact.rundir import atomic\n"
        "def stuck(fd):\n    print('writing', flush=True); sys.stdin.readline()\n"
        "os.fsync = stuck\natomic.write_text(Path(sys.argv[1]), 'new')"
    )
    path = tmp_path / "folder" / "a.md"
    write_text(path, "old")
    with Child(code, str(path)) as child:
        assert child.line() == b"writing\n"
        child.kill()
    left = [name for name in names(path.parent) if name != "a.md"]
    assert len(left) == 1
    assert left[0].startswith(TEMPORARY_PREFIX)
    assert path.read_text(encoding="utf-8") == "old"
    assert sweep_temporary(tmp_path) == 1
    assert names(path.parent) == ["a.md"]
