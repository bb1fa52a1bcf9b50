"""A fresh folder for each item: a workspace, and a home with the program's own configuration."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from reflact.confine import read_regular, remove_tree

# Made by Codex's sandbox as places to mount on; they are nobody's work.
_MOUNT_POINTS = (".git", ".agents", ".codex", ".aws")


@dataclass(frozen=True, slots=True)
class Workspace:
    """An item's folders. Their names mean nothing, since a student can see them.

    Attributes:
        root: Holds both.
        confined: The program sees them as `/ws` and `/home/student`.
    """

    root: Path
    confined: bool

    @property
    def work(self) -> Path:
        """Where the agent works."""
        return self.root / "ws"

    @property
    def home(self) -> Path:
        """The program's home."""
        return self.root / "home"

    @property
    def work_inside(self) -> str:
        """The workspace as the program knows it."""
        return "/ws" if self.confined else str(self.work)

    @property
    def home_inside(self) -> str:
        """The home as the program knows it."""
        return "/home/student" if self.confined else str(self.home)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write files into the workspace."""
        for name, content in files.items():
            if Path(name).name != name:
                raise ValueError(f"{name!r} is not a plain file name")
            (self.work / name).write_bytes(content)

    def put_home(self, name: str, content: str) -> str:
        """Write a file below the home; returns its path as the program knows it."""
        place = self.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
        return f"{self.home_inside}/{name}"

    def renew_home(self, name: str, content: str) -> None:
        """Replace a file of the home while a program runs; what the program put in its place is not followed."""
        made = self.root / "new"  # where the program sees nothing
        made.write_text(content, encoding="utf-8")
        with suppress(OSError):  # a folder of the student's own making; then the program has no key any more
            made.replace(self.home / name)

    def take(self, name: str, most_bytes: int) -> bytes | str:
        """Return a file of the workspace, or in words why it is not taken; see `read_regular`."""
        return read_regular(self.work, name, most_bytes)

    def keep(self, target: Path) -> None:
        """Move the workspace to another place. The home stays behind: it is not the agent's work."""
        target.parent.mkdir(parents=True, exist_ok=True)
        for name in _MOUNT_POINTS:
            if (self.work / name).is_dir() and not (self.work / name).is_symlink():
                remove_tree(self.work / name)
        shutil.move(self.work, target)


@contextmanager
def workspace(confined: bool) -> Iterator[Workspace]:
    """Yield a workspace outside of data and outputs; it is removed whatever the agent left in it."""
    root = Path(tempfile.mkdtemp(prefix="reflact-"))
    try:
        place = Workspace(root, confined)
        for folder in (place.work, place.home, place.home / "tmp"):
            folder.mkdir()
            folder.chmod(0o700)
        yield place
    finally:
        remove_tree(root)


def free_name(folder: Path, stem: str) -> Path:
    """Return a path in a folder that does not exist yet."""
    number = 1
    while os.path.lexists(folder / f"{stem}-{number}"):
        number += 1
    return folder / f"{stem}-{number}"
