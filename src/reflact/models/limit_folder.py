"""Folders of this user on this machine: where runs meet to share limits, and where a server leaves its token."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reflact.core.errors import ConfigError
from reflact.rundir.owner import this_process


def shared_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of this user's limits since the machine's start; made if it is missing.

    It is one place only, `reflact/limits` in the user's cache: of two, one process would take this and one that.

    Raises:
        ConfigError: The folder is somebody else's or open to others.
        OSError: There is no home, or nothing can be made in it.
    """
    root = private_folder(environ, "limits", "limits that runs share")
    boot = this_process().boot_id
    folder = root / (boot if boot is not None else "boot")
    _require_private(folder, "limits that runs share")
    return folder


def private_folder(environ: Mapping[str, str], name: str, what: str) -> Path:
    """Return `reflact/<name>` in the user's cache, open to nobody else; made if it is missing.

    Args:
        environ: Where `XDG_CACHE_HOME` and `HOME` are looked up.
        name: The folder's name.
        what: What is kept in it, for messages.

    Raises:
        ConfigError: The folder is somebody else's or open to others.
        OSError: There is no home, or nothing can be made in it.
    """
    cache = environ.get("XDG_CACHE_HOME", "")
    if not Path(cache).is_absolute():
        home = environ.get("HOME", "")
        if not Path(home).is_absolute():
            raise FileNotFoundError(errno.ENOENT, "HOME is not set")
        cache = str(Path(home, ".cache"))
    folder = Path(cache, "reflact", name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _require_private(folder, what)
    return folder


def _require_private(folder: Path, what: str) -> None:
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise ConfigError(f"{folder} is not a folder: {what} are kept in it; move it away")
    if found.st_uid != os.geteuid():
        raise ConfigError(
            f"{folder} belongs to user {found.st_uid}: {what} are kept only in a folder of one's own; move it away, "
            f"or set XDG_CACHE_HOME to a folder of yours"
        )
    if found.st_mode & 0o077:
        raise ConfigError(f"{folder} is open to others (mode {stat.S_IMODE(found.st_mode):o}): chmod 700 {folder}")
