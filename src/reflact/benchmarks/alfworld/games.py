"""Game files as they are on disk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.benchmarks.alfworld.tasks import TASK_TYPES
from reflact.benchmarks.alfworld.verbs import shapes_of
from reflact.benchmarks.files import NO_JSON
from reflact.core.errors import DataError

FILE_NAME = "game.tw-pddl"
_KEYS = ("pddl_domain", "grammar", "pddl_problem")
_TASK = re.compile(r"Your task is to:\s*([^\"\\\n]+)")


@dataclass(frozen=True, slots=True)
class GameFile:
    """A game file's content.

    Attributes:
        path: Where it is.
        sha256: Of its bytes.
        task: The sentence that says what is to be done, as the game tells it.
        solvable: What the file says of itself.
        walkthrough: Commands that win; empty if the file has none.
        shapes: The commands that the game knows.
    """

    path: Path
    sha256: str
    task: str
    solvable: bool
    walkthrough: tuple[str, ...]
    shapes: frozenset[str]


def read_game(path: Path) -> GameFile:
    """Read a game file.

    Raises:
        DataError: It is missing or no game file.
    """
    try:
        raw = path.read_bytes()
        data = json.loads(raw)
    except OSError as error:
        raise DataError(f"{path}: the game file cannot be read ({error.strerror})") from None
    except NO_JSON:
        raise DataError(f"{path}: not a game file (JSON was expected)") from None
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in _KEYS):
        raise DataError(f"{path}: not a game file: it needs the texts {', '.join(_KEYS)}")
    return _game(path, raw, data)


def _game(path: Path, raw: bytes, data: Mapping[str, Any]) -> GameFile:
    task = _TASK.search(data["grammar"])
    walkthrough = data.get("walkthrough")
    return GameFile(
        path=path,
        sha256=hashlib.sha256(raw).hexdigest(),
        task="" if task is None else task.group(1).strip().removesuffix("."),
        # Files of other origin may not say; what they hold then shows.
        solvable=data.get("solvable") is not False,
        walkthrough=tuple(map(str, walkthrough)) if isinstance(walkthrough, list) else (),
        shapes=shapes_of(data["pddl_domain"], data["grammar"]),
    )


def task_type_of(path: Path) -> str | None:
    """Return a game's task type: from `traj_data.json` beside it, else from the name of its task's folder."""
    described = path.parent / "traj_data.json"
    if described.is_file():
        try:
            data = json.loads(described.read_bytes())
        except NO_JSON:
            raise DataError(f"{described}: not valid JSON") from None
        if isinstance(data, dict) and data.get("task_type") in TASK_TYPES:
            return str(data["task_type"])
    named = path.parent.parent.name.partition("-")[0]
    return named if named in TASK_TYPES else None
