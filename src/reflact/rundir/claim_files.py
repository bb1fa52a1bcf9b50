"""Making the files in `claims/`; each is made once and never rewritten."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from reflact.rundir.atomic import named, sync_folder, write_all
from reflact.rundir.claims import ClaimRecord, claim_file
from reflact.rundir.encoding import json_bytes
from reflact.rundir.owner import this_process


def create_claim(root: Path, number: int, timeout_s: float, heartbeat_s: float) -> int:
    """Make a claim file for this process and return it open.

    Raises:
        FileExistsError: Another process made it.
        OSError: It could not be written and is not there.
    """
    directory = root.stat()
    record = ClaimRecord(
        owner=this_process(),
        token=secrets.token_hex(16),
        device=directory.st_dev,
        inode=directory.st_ino,
        timeout_s=timeout_s,
        heartbeat_s=heartbeat_s,
    )
    path = claim_file(root, number)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        # Whoever reads half of it takes the directory for one that is being claimed, which is right.
        write_all(fd, json_bytes(record.to_json()))
        os.fsync(fd)
        sync_folder(path.parent)
        sync_folder(root)
    except BaseException as error:
        os.close(fd)
        path.unlink()
        if number == 1:
            path.parent.rmdir()  # the directory is as empty as it was
        if isinstance(error, OSError):
            raise named(error, path) from error
        raise
    return fd


def make_mark(path: Path) -> None:
    """Make an empty file.

    Raises:
        FileExistsError: It is there already.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
