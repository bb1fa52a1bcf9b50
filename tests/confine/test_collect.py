from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflact.confine import read_regular, remove_tree

NO_FILE = "it is not a regular file"


def test_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert read_regular(tmp_path, "a", 10) == b"x" * 10
    assert read_regular(tmp_path, "a", 9) == "it is larger than 9 bytes"
    assert read_regular(tmp_path, "b", 9) == "there is no such file"


@pytest.mark.timeout(20)
def test_whatever_else_is_not_taken(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.write_bytes(b"gold")
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    (folder / "loop").symlink_to("loop")
    os.link(secret, folder / "hard")
    os.mkfifo(folder / "pipe")
    (folder / "sub").mkdir()
    for name in ("link", "loop", "hard", "pipe", "sub"):
        assert read_regular(folder, name, 100) == NO_FILE
    (tmp_path / "alias").symlink_to(folder)
    assert read_regular(tmp_path / "alias", "hard", 100) == "its folder is gone"
    assert read_regular(tmp_path / "none", "hard", 100) == "its folder is gone"


def test_a_file_with_holes_counts_as_long_as_it_says(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(10 << 30)
    assert read_regular(tmp_path, "a", 1000) == "it is larger than 1000 bytes"


def test_trees_of_any_kind_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "closed" / "inner").mkdir(parents=True)
    (folder / "closed").chmod(0)
    here = Path.cwd()
    os.chdir(folder)
    try:
        for _ in range(1500):
            os.mkdir("d")  # noqa: PTH102 - the whole path is too long to be named
            os.chdir("d")
    finally:
        os.chdir(here)
    remove_tree(folder)
    assert not folder.exists()
    remove_tree(folder)
