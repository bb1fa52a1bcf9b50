from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from reflact.rundir import fsclock
from reflact.rundir.fsclock import file_system_now
from tests.rundir.trees import names, portrait


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_the_time_of_the_file_system_is_had_without_a_trace(folder: Path) -> None:
    before = portrait(folder.parent)
    now = file_system_now(folder)
    assert now is not None
    assert abs(now - time.time()) < 60
    assert portrait(folder.parent) == before


def test_without_nameless_files_the_folder_beside_is_used_and_left_clean(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", 0)
    before = portrait(folder)
    assert file_system_now(folder) is not None
    assert portrait(folder) == before
    assert names(folder.parent) == ["run"]


def test_a_mount_point_is_touched_only_with_leave(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", 0)
    monkeypatch.setattr(fsclock, "_same_device", lambda *_: False)
    before = portrait(folder)
    assert file_system_now(folder) is None
    assert portrait(folder) == before
    assert file_system_now(folder, inside=True) is not None
    assert names(folder) == []
