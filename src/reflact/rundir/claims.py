"""The files in `claims/`: what they say about who owns a run. Reading them changes nothing.

`NNNN.json` is a claim; the highest number owns the run. Beside it may stand `NNNN.released` (its owner ended well) and
`NNNN.adopted` (the part of the owning process that writes the run has taken over from the part that claimed it).
"""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.rundir.fsclock import file_system_now
from reflact.rundir.layout import RunLayout
from reflact.rundir.owner import Process, is_gone
from reflact.rundir.quiet import names_quiet, open_quiet

DEFAULT_TIMEOUT_S = 300.0
"""Timeout of a claim that cannot be read."""

CLAIM_NAME = re.compile(r"(\d{4,})\.(json|released|adopted)")
"""Names that a claims folder may hold."""

_BEATS = 3
"""A claim is never stale before it missed so many heartbeats, whatever timeout the one who asks has set."""

_CLOCK_DOUBT_S = 86_400.0
"""How far this machine's clock is allowed to be off where the file system's time cannot be had."""


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """Content of a claim file, which is never rewritten.

    Attributes:
        owner: The process.
        token: Random, so that two claims are never equal.
        device: Device number of the run directory; means something within one boot of one machine only.
        inode: Inode of the run directory.
        timeout_s: Seconds without a heartbeat after which the owner is taken for dead.
        heartbeat_s: Seconds between heartbeats.
    """

    owner: Process
    token: str
    device: int
    inode: int
    timeout_s: float
    heartbeat_s: float

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        return {
            **self.owner.to_json(),
            "token": self.token,
            "directory": {"device": self.device, "inode": self.inode},
            "timeout_s": self.timeout_s,
            "heartbeat_s": self.heartbeat_s,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ClaimRecord:
        """Read a record written by `to_json`.

        Raises:
            KeyError, TypeError, ValueError: The object is not one.
        """
        directory = data["directory"]
        return cls(
            owner=Process.from_json(data),
            token=str(data["token"]),
            device=int(directory["device"]),
            inode=int(directory["inode"]),
            timeout_s=float(data["timeout_s"]),
            heartbeat_s=float(data["heartbeat_s"]),
        )


@dataclass(frozen=True, slots=True)
class ClaimView:
    """Who owns a run, as seen from outside.

    Attributes:
        number: Number of the highest claim, 0 if there is none.
        owner: The process that made it; None if there is none, or its file is not complete.
        alive: Whether the owner may write: True, False, or None if that cannot be told (then it counts as alive).
        age_s: Seconds since the last heartbeat; None without a claim.
        void: The claim is of another directory, of which this one is a copy.
        released: The owner ended well and gave the run up.
    """

    number: int = 0
    owner: Process | None = None
    alive: bool | None = False
    age_s: float | None = None
    void: bool = False
    released: bool = False


def claim_file(root: Path, number: int, kind: str = "json") -> Path:
    """Return the path of a claim or of a mark beside it."""
    return RunLayout(root).claims / f"{number:04d}.{kind}"


def inspect(root: Path, timeout_s: float | None = None, *, inside: bool = False) -> ClaimView:
    """Return who owns the run in `root`; nothing in it changes.

    Args:
        root: The run directory.
        timeout_s: Seconds without a heartbeat after which a claim is stale; by default what its owner set. Three
            heartbeats of the owner are waited for in any case.
        inside: Allow a probe file in `root` where the file system's time cannot be had otherwise.
    """
    number = _highest(root)
    if number == 0:
        return ClaimView()
    try:
        record, beat = _read(claim_file(root, number))
    except FileNotFoundError:
        return ClaimView()  # moved away this moment
    now = file_system_now(root, inside=inside)
    age_s = max(0.0, (time.time() if now is None else now) - beat)
    released = claim_file(root, number, "released").exists()
    void = record is not None and _is_void(record, root)
    alive = False if released or void else _is_alive(record, age_s, timeout_s, doubt=now is None)
    return ClaimView(number, record.owner if record else None, alive, age_s, void, released)


def _is_alive(record: ClaimRecord | None, age_s: float, timeout_s: float | None, *, doubt: bool) -> bool | None:
    limit = timeout_s if timeout_s is not None else record.timeout_s if record else DEFAULT_TIMEOUT_S
    if record is not None:
        if is_gone(record.owner):
            return False
        limit = max(limit, _BEATS * record.heartbeat_s)
    if age_s > limit + (_CLOCK_DOUBT_S if doubt else 0.0):
        return False
    return True if record is not None and age_s <= limit else None


def _is_void(record: ClaimRecord, root: Path) -> bool:
    stat = root.stat()
    if record.inode != stat.st_ino:
        return True
    # Device numbers of network file systems differ from machine to machine and from boot to boot.
    return is_gone(record.owner) is not None and record.device != stat.st_dev


def _highest(root: Path) -> int:
    try:
        names = names_quiet(RunLayout(root).claims)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    matches = (CLAIM_NAME.fullmatch(name) for name in names)
    return max((int(match[1]) for match in matches if match and match[2] == "json"), default=0)


def _read(path: Path) -> tuple[ClaimRecord | None, float]:
    """Return the record (None while it is being written, or if its writing was cut) and the last heartbeat."""
    with open_quiet(path) as file:  # opening makes a network file system ask its server
        beat = os.fstat(file.fileno()).st_mtime
        data = file.read()
    try:
        return ClaimRecord.from_json(json.loads(data)), beat
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, beat
