"""The limiter of an endpoint: shared with the machine's other runs where that is possible and means something."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import astuple
from math import inf
from pathlib import Path

from reflact.config.operation import LimitsConfig
from reflact.core.events import Emit, Warned
from reflact.models.limit_board import Board, Member
from reflact.models.limit_folder import shared_folder
from reflact.models.limit_rules import in_force
from reflact.models.limit_store import FileStore, MemoryStore
from reflact.models.limits import Limiter, LimitKey, LocalLimiter
from reflact.models.shared_limits import SharedLimiter, boot_clock

_FORM = 1  # of the board; programs that write another one must not meet in the same folder
_TRIES = 500


def make_limiter(
    key: LimitKey,
    limits: LimitsConfig,
    emit: Emit,
    *,
    remote: bool,
    environ: Mapping[str, str] | None = None,
) -> Limiter:
    """Return the limiter of a key.

    Args:
        key: What shares the limits.
        limits: `limits.*`.
        emit: Told if limits cannot be shared.
        remote: The model is a service that other processes reach too.
        environ: The environment, which says where the user's cache is.

    Raises:
        ConfigError: The folder for shared limits is not the user's alone.
    """
    if not remote:
        return LocalLimiter(limits, time.monotonic)

    def warn(message: str) -> None:
        emit(Warned("limits_not_shared", message))

    try:
        folder = shared_folder(os.environ if environ is None else environ) / folder_name(key)
    except OSError as error:
        warn(f"limits hold in this process only, other runs do not see them: {error}")
        return SharedLimiter(limits, MemoryStore, warn)
    return SharedLimiter(limits, lambda: FileStore(folder), warn)


def folder_name(key: LimitKey) -> str:
    """Return the name of a key's folder; nothing can be read from it."""
    return f"{_FORM}-{hashlib.sha256(repr(astuple(key)).encode()).hexdigest()[:20]}"


def limits_shown(key: LimitKey, limits: LimitsConfig, environ: Mapping[str, str] | None = None) -> str:
    """Return what would hold for a run that started now, in words.

    Raises:
        ConfigError: The folder for shared limits is not the user's alone.
    """
    try:
        folder = shared_folder(os.environ if environ is None else environ) / folder_name(key)
        board = _board(folder)
    except OSError as error:
        return f"{_rules(Board(), limits)}; not shared with other runs: {error}"
    others = len(board.members)
    text = f"{_rules(board, limits)}; shared with {others} other process{'' if others == 1 else 'es'}"
    if others:
        text += f" (pid {', '.join(sorted(name.partition('-')[0] for name in board.members))})"
    cool_s = board.cool_until - boot_clock()
    return f"{text}, all paused for {cool_s:.0f} s after a 429" if cool_s >= 1 else text


def _board(folder: Path) -> Board:
    """Read a board without becoming a member."""
    if not (folder / "board").exists():
        return Board()
    store = FileStore(folder)
    try:
        board = store.enter()
        for _ in range(_TRIES):
            if board is not None:
                break
            time.sleep(0.002)
            board = store.enter()
        if board is None:
            raise BlockingIOError(errno.EAGAIN, "another process holds the lock", str(folder))
        store.leave(None)
        for name in [name for name in board.members if not store.is_there(name)]:
            del board.members[name]
        return board
    finally:
        store.close(remove=False)


def _rules(board: Board, limits: LimitsConfig) -> str:
    mine = Member(limits.max_concurrent_requests, limits.requests_per_minute, limits.tokens_per_minute, limits.adaptive)
    rules = in_force(Board({**board.members, "this": mine}, ceiling=board.ceiling))
    parts = [
        f"at most {value:.0f} {what}"
        for value, what in (
            (rules.concurrency, "requests in flight"),
            (rules.requests, "requests a minute"),
            (rules.tokens, "tokens a minute"),
        )
        if value < inf
    ]
    if limits.adaptive:
        parts.append("adapting to 429s")
    return ", ".join(parts) if parts else "no limits set"
