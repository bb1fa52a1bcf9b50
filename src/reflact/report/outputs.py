"""Places that a person names for what is written: asked about before the work, and told of in one line."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reflact.core.errors import ConfigError, ReflactError
from reflact.rundir.full import disk_stop
from reflact.rundir.layout import RunLayout
from reflact.rundir.refusal import shown
from reflact.rundir.view import view_run


def output_file(out: Path, example: str) -> Path:
    """Return where a file can be written as a whole: `out`, or what it is a link to, so that the link stays.

    A device or a pipe would be replaced by a file, which for `/dev/null` would harm the whole machine.

    Args:
        out: What the person said.
        example: A file's name, for the message about a folder.

    Raises:
        ConfigError: It is a folder, a device or a pipe, lies in a run directory, or in no folder.
    """
    kind = _kind(out)
    if kind is not None and stat.S_ISDIR(kind):
        raise ConfigError(f"--out {shown(out)} is a folder; the name of a file is needed, such as {out / example}")
    if kind is not None and not stat.S_ISREG(kind):
        raise ConfigError(
            f"--out {shown(out)} is a device or a pipe; the name of a file is needed, which is replaced as a whole"
        )
    place = out.resolve() if out.is_symlink() else out
    folder = place.absolute().parent
    if not folder.is_dir():
        raise ConfigError(f"--out {shown(out)}: there is no folder {shown(folder)}; make it first")
    _require_outside_runs(out, folder, ConfigError)
    return place


def output_folder(out: Path, in_a_run: type[ReflactError] = ConfigError) -> None:
    """Make sure that a folder is one or can be made, outside run directories.

    Raises:
        ConfigError: It is something else, or lies in a run directory (then `in_a_run`).
    """
    kind = _kind(out)
    if kind is not None and not stat.S_ISDIR(kind):
        raise ConfigError(f"--out {shown(out)} is a file; a folder is needed")
    _require_outside_runs(out, out, in_a_run)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Tell of what cannot be written in the block; a full disk is told elsewhere, with another exit code.

    Raises:
        ConfigError: Something cannot be written.
    """
    try:
        yield
    except OSError as error:
        if disk_stop(error) is not None:
            raise
        raise ConfigError(f"--out {shown(out)} cannot be written: {error.strerror}") from error


def _kind(out: Path) -> int | None:
    """Return the mode of what is there, links followed; None if nothing is."""
    try:
        return out.stat().st_mode
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"--out {shown(out)} cannot be written: {reason}") from error


def _require_outside_runs(out: Path, folder: Path, error: type[ReflactError]) -> None:
    place = folder.absolute()
    if any(RunLayout(above).claims.is_dir() and view_run(above).ours for above in (place, *place.parents)):
        raise error(f"--out {shown(out)} is inside a run directory, where only the run itself writes")
