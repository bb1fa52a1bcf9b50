"""An evaluation folder: rows and conversations on disk, small references in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from reflact.core.hashing import digest
from reflact.core.names import RowStatus
from reflact.core.types import Item, Row, Turn
from reflact.engine.scores import RowRef
from reflact.harness.protocol import Performance
from reflact.optimizer.types import Trajectory, TrajectoryRef
from reflact.rundir.jsonl import JsonlWriter, Syncer, damaged, read_at, read_jsonl
from reflact.rundir.layout import EvaluationFolder
from reflact.rundir.redact import Redactor


class RowStore:
    """Appends to and reads from one evaluation folder.

    A row's line is written after its conversation's, so that a row that is there is complete.
    """

    def __init__(self, folder: EvaluationFolder, syncer: Syncer, check: Callable[[], None]) -> None:
        self.folder = folder
        self.foreign = 0
        self._syncer = syncer
        self._check = check
        self._writers: tuple[JsonlWriter, JsonlWriter] | None = None

    def recover(self, keys: set[str]) -> dict[tuple[str, str, int], RowRef]:
        """Return the last row of each (key, id, repeat) under one of `keys`; others are counted in `foreign`.

        Raises:
            DataError: A line is no row or conversation; file and line are named.
        """
        talks: dict[tuple[str, str, int, int], tuple[int, str]] = {}
        for number, (offset, line) in enumerate(read_jsonl(self.folder.conversations), 1):
            with _sense(self.folder.conversations, number):
                talks[line["key"], line["id"], line["repeat"], line["attempt"]] = (offset, line["digest"])
        found: dict[tuple[str, str, int], RowRef] = {}
        self.foreign = 0
        for number, (offset, line) in enumerate(read_jsonl(self.folder.results), 1):
            with _sense(self.folder.results, number):
                if line["key"] not in keys:
                    self.foreign += 1
                    continue
                row, seed = Row.from_json(line), int(line["seed"])
                talk = talks.get((row.key, row.id, row.repeat, row.attempt))
            if talk is None and row.scored:
                continue  # its conversation was lost with a machine: the row is made again
            at, content = talk if talk is not None else (-1, "")
            found[row.key, row.id, row.repeat] = _reference(row, seed, content, offset, at)
        return found

    def append(self, key: str, item: Item, seed: int, repeat: int, attempt: int, done: Performance) -> RowRef:
        """Write a finished item."""
        self._check()
        row = _row(key, item, repeat, attempt, done)
        content = _content(row, done.outcome.conversation)
        results, conversations = self._open()
        turns_at = conversations.append(
            {
                "key": key,
                "id": item.id,
                "repeat": repeat,
                "attempt": attempt,
                "digest": content,
                "turns": [{"role": turn.role, "content": turn.content} for turn in done.outcome.conversation],
            }
        )
        row_at = results.append({**row.to_json(), "seed": seed})
        return _reference(row, seed, content, row_at, turns_at)

    def close(self) -> None:
        """Close the files."""
        for writer in self._writers or ():
            writer.close()
        self._writers = None

    def _open(self) -> tuple[JsonlWriter, JsonlWriter]:
        if self._writers is None:
            self._writers = (
                JsonlWriter(self.folder.results, self._syncer),
                JsonlWriter(self.folder.conversations, self._syncer),
            )
        return self._writers


def without_secrets(done: Performance, redactor: Redactor) -> Performance:
    """Return what is kept of an item; an agent has other ways to a key than a reply that was cleaned already."""
    kept = done.outcome

    def clean(text: str | None) -> str | None:
        return None if text is None else redactor.exact(text)

    extra = redactor.exact_json(dict(kept.extra))
    assert isinstance(extra, dict)
    outcome = replace(
        kept,
        predicted_answer=clean(kept.predicted_answer),
        fail_reason=clean(kept.fail_reason),
        conversation=tuple(replace(turn, content=clean(turn.content)) for turn in kept.conversation),
        extra=extra,
    )
    return replace(done, outcome=outcome)


def trajectory(folder: EvaluationFolder, row: RowRef, *, gold: bool) -> TrajectoryRef:
    """Return a reference that reads the item's row and conversation when a prompt is built.

    Args:
        folder: Where the row is.
        row: The row.
        gold: Whether the teacher may see the gold answers (train items of benchmarks that allow it).
    """

    def load() -> Trajectory:
        data = read_at(folder.results, row.row_at)
        turns = read_at(folder.conversations, row.turns_at)["turns"]
        return Trajectory(
            id=row.id,
            question=data["question"],
            task_type=data["task_type"],
            fail_reason=data["fail_reason"],
            predicted_answer=data["predicted_answer"],
            hard=float(data["hard"]),
            soft=float(data["soft"]),
            n_turns=int(data["n_turns"]),
            conversation=tuple(Turn(turn["role"], turn["content"]) for turn in turns),
            gold=tuple(data["gold"]) if gold else None,
        )

    assert row.hard is not None, "error rows are never shown to the teacher"
    return TrajectoryRef(id=row.id, hard=row.hard, task_type=row.task_type, load=load, digest=row.digest)


def _row(key: str, item: Item, repeat: int, attempt: int, done: Performance) -> Row:
    outcome = done.outcome
    scored = outcome.status is not RowStatus.ERROR
    return Row(
        key=key,
        id=item.id,
        repeat=repeat,
        status=outcome.status,
        cause=outcome.cause,
        hard=outcome.hard if scored else None,
        soft=outcome.soft if scored else None,
        n_turns=outcome.n_turns,
        fail_reason=outcome.fail_reason,
        task_type=item.task_type,
        question=item.question,
        predicted_answer=outcome.predicted_answer,
        gold=item.gold,
        truncated=outcome.truncated,
        no_action=outcome.no_action,
        usage=done.usage,
        latency_s=round(done.latency_s, 3),
        wait_s=round(done.wait_s, 3),
        attempt=attempt,
        extra=outcome.extra,
    )


def _content(row: Row, conversation: tuple[Turn, ...]) -> str:
    shown: Mapping[str, Any] = {
        "id": row.id,
        "repeat": row.repeat,
        "status": row.status.value,
        "hard": row.hard,
        "soft": row.soft,
        "fail_reason": row.fail_reason,
        "answer": row.predicted_answer,
        "turns": [[turn.role, turn.content] for turn in conversation],
    }
    return digest(shown)


def _reference(row: Row, seed: int, content: str, row_at: int, turns_at: int) -> RowRef:
    return RowRef(
        id=row.id,
        repeat=row.repeat,
        seed=seed,
        status=row.status,
        cause=row.cause,
        hard=row.hard,
        soft=row.soft,
        task_type=row.task_type,
        truncated=row.truncated,
        no_action=row.no_action,
        attempt=row.attempt,
        digest=content,
        row_at=row_at,
        turns_at=turns_at,
    )


@contextmanager
def _sense(path: Path, number: int) -> Iterator[None]:
    """Take a line that lacks a field, or says nonsense in one, for what it is: damaged."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise damaged(path, number, f"a field is missing or says nonsense ({error})") from error
