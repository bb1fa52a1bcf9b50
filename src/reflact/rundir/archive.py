"""Moving a directory out of the way without losing a byte of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from reflact.core.errors import Refused
from reflact.rundir.atomic import sync_folder, write_json
from reflact.rundir.claim_files import create_claim
from reflact.rundir.claims import DEFAULT_TIMEOUT_S, claim_file
from reflact.rundir.layout import RunLayout
from reflact.rundir.refusal import holds, shown
from reflact.rundir.view import ARCHIVE, RunView, archive_note, view_run

_LONGEST_NAME = 255 - len("-20260101T000000Z-abcdef.json")
"""Bytes of the old name that fit into the new one."""


def archive(root: Path, reason: str, clock: Callable[[], float]) -> Path:
    """Rename a directory to `<parent>/archive/<name>-<UTC time>-<6 hex>` and return that path.

    The directory is renamed, never copied or deleted, and keeps its bytes and modification times. A file with the
    same name and `.json` behind it, beside the moved directory, says when, why and from where.

    Args:
        root: A run, or any directory that stands where a run is wanted.
        reason: Why, for people.
        clock: Returns unix seconds.

    Raises:
        Refused: A claim lives, or the directory cannot be renamed, or the note not be written; it is where it was.
    """
    root = Path(os.path.abspath(root))  # noqa: PTH100 - `resolve` would follow links
    try:
        _refuse_link(root)
        view = view_run(root)
    except OSError as error:
        raise Refused(f"{shown(root)}: not archived: {error.strerror}") from error
    if not root.is_dir():
        raise Refused(f"{shown(root)}: there is no such directory, so nothing was archived")
    if view.claim.alive is not False:
        raise Refused(f"{shown(root)}: not archived, since it holds {holds(view)}; stop that process first")
    now = datetime.fromtimestamp(clock(), UTC)
    try:
        moved = _free_name(root, now)
        note = archive_note(moved)
        write_json(note, _note(view, reason, now))
    except OSError as error:
        where = shown(Path(error.filename or root.parent / ARCHIVE))
        raise Refused(f"{shown(root)}: not archived, {where} cannot be written: {error.strerror}") from error
    try:
        with _held(view):
            root.rename(moved)
    except OSError as error:
        note.unlink()
        raise Refused(f"{shown(root)}: not archived, it cannot be renamed: {error.strerror}") from error
    except BaseException:
        note.unlink()
        raise
    sync_folder(moved.parent)
    sync_folder(root.parent)
    return moved


@contextmanager
def _held(view: RunView) -> Iterator[None]:
    """Own the run while it is renamed, so that nobody resumes it at that moment; leaves no trace in it."""
    if not view.ours:
        yield
        return
    claims, number = RunLayout(view.root).claims, view.claim.number + 1
    times = claims.stat()
    folder = os.open(claims, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            os.close(create_claim(view.root, number, DEFAULT_TIMEOUT_S, DEFAULT_TIMEOUT_S))
        except FileExistsError:
            raise Refused(f"{shown(view.root)}: not archived, since another process has just claimed it") from None
        try:
            yield
        finally:
            os.unlink(claim_file(view.root, number).name, dir_fd=folder)
            os.utime(folder, ns=(times.st_atime_ns, times.st_mtime_ns))
    finally:
        os.close(folder)


def _free_name(root: Path, now: datetime) -> Path:
    folder = root.parent / ARCHIVE
    folder.mkdir(exist_ok=True)
    name = os.fsdecode(os.fsencode(root.name)[:_LONGEST_NAME])
    while True:
        moved = folder / f"{name}-{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        if not moved.exists() and not archive_note(moved).exists():
            return moved


def _note(view: RunView, reason: str, now: datetime) -> dict[str, str | None]:
    return {
        "archived_at": now.isoformat(timespec="seconds"),
        "reason": reason,
        "from": str(view.root),
        "state": view.state.value if view.state else None,
    }


def _refuse_link(root: Path) -> None:
    if root.is_symlink():
        raise Refused(f"{shown(root)} is a link and was not archived; archive {shown(Path(os.path.realpath(root)))}")
