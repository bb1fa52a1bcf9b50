"""Looking at a running job from outside: its processes, its memory, its folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(root: int, most: int) -> list[int]:
    """Return a process and all its descendants, or the first `most` + 1 of them if there are more."""
    found = [root]
    for pid in found:  # grows while it is read
        for child in _children(pid):
            if len(found) > most:
                return found
            found.append(child)
    return found


def _children(pid: int) -> Iterator[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return  # it has ended
    for thread in threads:
        try:
            text = (thread / "children").read_text(encoding="ascii")
        except OSError:
            continue
        yield from map(int, text.split())


def private_memory(pids: Iterable[int]) -> int:
    """Return the resident bytes of processes, without what they map from files or share on purpose."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
        except OSError:
            continue
        if len(fields) >= 3:
            total += max(0, int(fields[1]) - int(fields[2])) * _PAGE
    return total


def usage(folders: Iterable[Path], most_bytes: int | None, most_entries: int) -> tuple[int, int]:
    """Return bytes and entries in folders; counting ends as soon as either is above its limit.

    Links are counted, never followed. A path too deep to be named counts as too much.
    """
    size = entries = 0
    waiting = [os.fspath(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += _allocated(entry)
                    if entries > most_entries or (most_bytes is not None and size > most_bytes):
                        return size, entries
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # removed meanwhile, or closed by its owner
        except OSError:
            return size, most_entries + 1
    return size, entries


def _allocated(entry: os.DirEntry[str]) -> int:
    try:
        stat = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return 0
    return stat.st_blocks * 512  # a file may be longer than what it takes
