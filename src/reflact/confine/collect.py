"""Taking files out of a folder in which a stranger wrote, and removing the folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

_CHUNK = 1024 * 1024


def read_regular(folder: Path, name: str, most_bytes: int) -> bytes | str:
    """Return the content of a file directly in a folder, or in words why it is not taken.

    Only a regular file with one name is: no link of either kind, no pipe, no device, nothing above the size.

    Args:
        folder: The folder.
        name: The file's name, without any folder.
        most_bytes: Largest size.
    """
    # Without O_NONBLOCK opening a pipe would wait for a writer for ever.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return "its folder is gone"
    try:
        try:
            handle = os.open(name, flags, dir_fd=place)
        except FileNotFoundError:
            return "there is no such file"
        except OSError:
            return "it is not a regular file"
        try:
            return _content(handle, most_bytes)
        finally:
            os.close(handle)
    finally:
        os.close(place)


def _content(handle: int, most_bytes: int) -> bytes | str:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        return "it is not a regular file"
    if status.st_size > most_bytes:
        return f"it is larger than {most_bytes} bytes"
    content = bytearray()
    while len(content) <= most_bytes and (chunk := os.read(handle, _CHUNK)):
        content += chunk
    return bytes(content) if len(content) <= most_bytes else f"it is larger than {most_bytes} bytes"


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever is in it: closed folders, and nesting deeper than a path can name."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        subprocess.run(["chmod", "-R", "u+rwX", "--", folder], check=False, capture_output=True, env={})
        subprocess.run(["rm", "-rf", "--", folder], check=True, capture_output=True, env={})
