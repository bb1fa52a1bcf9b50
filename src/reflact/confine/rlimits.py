"""Limits that the kernel keeps, set by a shell that then becomes the program.

Setting them between fork and exec from Python is not safe in a process with threads, and setting them from outside
after the start leaves a moment without them.
"""

from __future__ import annotations

from collections.abc import Iterator

from reflact.confine.job import KIB, Limits

SHELL = "/bin/sh"
_BLOCK = 512  # POSIX counts file sizes in blocks
_OPEN_FILES = 256


def limited(argv: tuple[str, ...], limits: Limits, *, count_processes: bool) -> list[str]:
    """Return a command that sets limits and then becomes `argv`.

    Args:
        argv: The program.
        limits: What it may take.
        count_processes: Limit processes too. The kernel counts all of the user's, so that this means something only
            where the job has a user namespace of its own.
    """
    return [SHELL, "-c", f'{"; ".join(_settings(limits, count_processes))}; exec "$@"', "sh", *argv]


def _settings(limits: Limits, count_processes: bool) -> Iterator[str]:
    yield "ulimit -c 0"
    yield f"ulimit -n {_OPEN_FILES} 2>/dev/null"  # already lower on some machines
    yield f"ulimit -t {max(1, round(limits.wall_s * 4) + 1)}"
    if limits.memory_bytes is not None and limits.address_space:
        yield f"ulimit -v {limits.memory_bytes // KIB}"
    if limits.file_bytes is not None:
        yield f"ulimit -f {max(1, limits.file_bytes // _BLOCK)}"
    if count_processes:
        # Shells do not agree on the letter.
        yield f"ulimit -u {limits.processes} 2>/dev/null || ulimit -p {limits.processes} 2>/dev/null"
