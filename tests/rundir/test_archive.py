from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reflact.core.errors import Refused
from reflact.core.names import RunState
from reflact.rundir.archive import archive
from reflact.rundir.view import find_runs, view_run
from tests.rundir.children import Child
from tests.rundir.trees import abandoned, portrait, take

NOON = 1_767_268_800.0


def kept(root: Path) -> dict[str, tuple[bytes | None, int]]:
    """What a rename of `root` may not change: the paths below it, bytes and modification times."""
    return {str(Path(name).relative_to(root)): (seen.data, seen.mtime_ns) for name, seen in portrait(root).items()}


def test_a_run_is_moved_with_every_byte_and_a_note_beside_it(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=400)
    inode, before = root.stat().st_ino, kept(root)
    moved = archive(root, "wrong split", lambda: NOON)
    assert re.fullmatch(r"run-20260101T120000Z-[0-9a-f]{6}", moved.name)
    assert moved.parent == tmp_path / "archive"
    assert not root.exists()
    assert moved.stat().st_ino == inode
    assert kept(moved) == before
    note = json.loads((moved.parent / f"{moved.name}.json").read_bytes())
    assert note == {
        "archived_at": "2026-01-01T12:00:00+00:00",
        "reason": "wrong split",
        "from": str(root),
        "state": "stale",
    }
    assert view_run(moved).state is RunState.ARCHIVED
    take(root).release()


def test_a_live_run_stays(tmp_path: Path) -> None:
    with Child() as child:
        child.take(tmp_path / "run")
        before = portrait(tmp_path)
        with pytest.raises(Refused, match=f"pid {child.pid}"):
            archive(tmp_path / "run", "", lambda: NOON)
        assert portrait(tmp_path) == before
        child.kill()
        archive(tmp_path / "run", "", lambda: NOON)


def test_nobody_resumes_a_run_while_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = abandoned(tmp_path / "run", age_s=400)
    real = Path.rename
    refusals = []

    def rename(self: Path, target: Path) -> Path:
        with pytest.raises(Refused) as caught:
            take(root, resume=True)
        refusals.append(caught.value)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    archive(root, "", lambda: NOON)
    assert len(refusals) == 1


def test_a_directory_that_cannot_be_renamed_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = abandoned(tmp_path / "run", age_s=400)
    before = kept(root)

    def rename(self: Path, target: Path) -> Path:
        raise OSError(18, "Invalid cross-device link")

    with monkeypatch.context() as patch, pytest.raises(Refused, match="cross-device"):
        patch.setattr(Path, "rename", rename)
        archive(root, "", lambda: NOON)
    assert kept(root) == before
    assert list((tmp_path / "archive").iterdir()) == []


def test_without_a_place_for_it_a_directory_stays_as_it_was(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=400)
    (tmp_path / "archive").write_text("a file stands here", encoding="utf-8")
    before = kept(root)
    with pytest.raises(Refused, match="archive cannot be written"):
        archive(root, "", lambda: NOON)
    assert kept(root) == before


def test_what_is_no_run_is_moved_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("x", encoding="utf-8")
    moved = archive(tmp_path / "data", "in the way", lambda: NOON)
    assert (moved / "a").read_text(encoding="utf-8") == "x"
    assert find_runs(tmp_path) == []


def test_links_and_missing_directories_are_refused(tmp_path: Path) -> None:
    abandoned(tmp_path / "run", age_s=400)
    (tmp_path / "link").symlink_to("run")
    with pytest.raises(Refused, match="link"):
        archive(tmp_path / "link", "", lambda: NOON)
    with pytest.raises(Refused, match="no such directory"):
        archive(tmp_path / "none", "", lambda: NOON)


def test_two_of_one_name_stand_side_by_side(tmp_path: Path) -> None:
    moved = set()
    for _ in range(3):
        moved.add(archive(abandoned(tmp_path / "run", age_s=400), "", lambda: NOON))
    assert len(moved) == 3
    assert all(path.is_dir() for path in moved)
