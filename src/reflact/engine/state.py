"""The one resume state: where the loop is and everything that it carries from step to step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reflact.core.errors import DataError
from reflact.core.hashing import text_digest
from reflact.core.names import StopReason
from reflact.optimizer.types import BufferEntry, FailureType
from reflact.rundir.atomic import write_json

VERSION = 1


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill with the score that was measured for it.

    Attributes:
        text: The document.
        origin: Which step or update made it (`initial`, `step_0003`, `epoch_02_slow`).
        step: The global step after which it was current; 0 for the initial skill.
        score: The gate's metric on the selection split; None where nothing is scored.
        folder: The evaluation folder (relative name) that holds the rows behind the score.
    """

    text: str
    origin: str
    step: int
    score: float | None
    folder: str

    @property
    def sha256(self) -> str:
        """Hash of the text's bytes."""
        return text_digest(self.text)


@dataclass(slots=True)
class TrainingState:
    """What a resumed run starts from; saved after each step and each epoch-end update.

    Attributes:
        current: The skill that the next rollout uses.
        best: The skill with the highest measured score.
        epoch: The epoch under way, from 1.
        step: Global steps finished.
        epoch_end_done: Epoch-end updates of `epoch` that are finished (`slow_update`, ...).
        previous_epoch: Text at the end of the epoch before the one under way; None in epoch 1.
        buffer: Step buffer of the epoch under way.
        meta_skill: The teacher's memory.
        meta_summary: Summary of the last meta reflect.
        measured: Evaluation folder by skill key, for skills measured on the selection split.
        hopeless: Skill keys rejected by a bound, with the key of the skill they were compared with.
        since_best: Steps since the best skill last changed.
        history_lines: Lines of history.jsonl that this state covers.
        lr_history_lines: Lines of lr_history.jsonl that this state covers.
        counts: Steps by action.
        ended: Why training ended, once it did.
    """

    current: Skill
    best: Skill
    epoch: int = 1
    step: int = 0
    epoch_end_done: list[str] = field(default_factory=list)
    previous_epoch: str | None = None
    buffer: list[BufferEntry] = field(default_factory=list)
    meta_skill: str = ""
    meta_summary: str = ""
    measured: dict[str, str] = field(default_factory=dict)
    hopeless: dict[str, str] = field(default_factory=dict)
    since_best: int = 0
    history_lines: int = 0
    lr_history_lines: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    ended: StopReason | None = None

    def save(self, path: Path) -> None:
        """Write the state atomically."""
        data = asdict(self)
        data["ended"] = self.ended.value if self.ended else None
        write_json(path, {"version": VERSION, **data})

    def finish(self, reason: StopReason, path: Path) -> None:
        """End training and save."""
        self.ended = reason
        self.save(path)

    @classmethod
    def load(cls, path: Path) -> TrainingState | None:
        """Read a saved state; None if there is none.

        Raises:
            DataError: The file is not a state of this version.
        """
        if not path.exists():
            return None
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if data.pop("version") != VERSION:
                raise ValueError("another version")
            data["current"] = Skill(**data["current"])
            data["best"] = Skill(**data["best"])
            data["buffer"] = [_entry(entry) for entry in data["buffer"]]
            data["ended"] = StopReason(data["ended"]) if data["ended"] else None
            return cls(**data)
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not a resume state that this version can read: {error}") from error


def _entry(data: Mapping[str, Any]) -> BufferEntry:
    return BufferEntry(
        step=data["step"],
        action=data["action"],
        n=data["n"],
        failures=data["failures"],
        failure_types=tuple(FailureType(**kind) for kind in data["failure_types"]),
        rejected_edits=tuple(data["rejected_edits"]),
    )
