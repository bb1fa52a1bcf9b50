"""Items, rules, outcomes and rows: what passes between benchmarks, harnesses and the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.names import RowStatus
from reflact.core.usage import Usage

Json = Any
"""A value that `json.dumps` accepts."""


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a benchmark.

    Attributes:
        id: Unique within the whole split; data, never part of a path.
        question: What is asked, as a short text for people and for teacher prompts.
        gold: Accepted answers. They never reach a student, nor a teacher unless the item is a train item
            and the benchmark's `teacher_sees_gold` says so.
        task_type: The benchmark's own classification, `""` if it has none.
        data: Everything else that the benchmark needs; JSON-like.
    """

    id: str
    question: str
    gold: tuple[str, ...] = ()
    task_type: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """A hidden rule of the rehearsal: a skill that holds `text` helps the items of `task_types` (empty: all).

    `gain` is added to the probability of success; the gains of held rules add up.
    """

    text: str
    gain: float
    task_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, as it is kept and shown to the teacher."""

    role: str
    content: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the student's work on one item ended, before it becomes a row.

    Attributes:
        status: See `RowStatus`.
        cause: What exactly happened where the status is not `ok` (`no_answer`, `content_filter`, `rate_limit` ...).
        hard: Pass or fail in [0, 1]; None if and only if the status is `error`.
        soft: Partial credit in [0, 1]; None if and only if the status is `error`.
        predicted_answer: The extracted answer, None if there was none.
        fail_reason: Why `hard` is below 1, in words for the teacher; never holds a gold answer or a checker's rule.
        n_turns: Model turns taken.
        truncated: The reply was cut by the token cap, though an answer could be extracted.
        no_action: Turns without a usable action (multi-turn benchmarks).
        conversation: What was said, in order.
        extra: Benchmark-specific fields of the row; JSON-like, stable from run to run.
    """

    status: RowStatus
    cause: str | None = None
    hard: float | None = None
    soft: float | None = None
    predicted_answer: str | None = None
    fail_reason: str | None = None
    n_turns: int = 0
    truncated: bool = False
    no_action: int = 0
    conversation: tuple[Turn, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of `results.jsonl`: an item's outcome under one evaluation key.

    `latency_s` is working time in seconds, `wait_s` the time spent waiting for rate limits; neither takes part
    in any decision. `attempt` counts the times the item was run, from 1.
    """

    key: str
    id: str
    repeat: int
    status: RowStatus
    cause: str | None
    hard: float | None
    soft: float | None
    n_turns: int
    fail_reason: str | None
    task_type: str
    question: str
    predicted_answer: str | None
    gold: tuple[str, ...]
    truncated: bool
    no_action: int
    usage: Usage
    latency_s: float
    wait_s: float
    attempt: int
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def scored(self) -> bool:
        """Whether the row has a score."""
        return self.status is not RowStatus.ERROR

    def to_json(self) -> dict[str, Json]:
        """Return the row as a JSON object with a stable order of keys."""
        return {
            "key": self.key,
            "id": self.id,
            "repeat": self.repeat,
            "status": self.status.value,
            "cause": self.cause,
            "hard": self.hard,
            "soft": self.soft,
            "n_turns": self.n_turns,
            "fail_reason": self.fail_reason,
            "task_type": self.task_type,
            "question": self.question,
            "predicted_answer": self.predicted_answer,
            "gold": list(self.gold),
            "truncated": self.truncated,
            "no_action": self.no_action,
            "usage": self.usage.to_json(),
            "latency_s": self.latency_s,
            "wait_s": self.wait_s,
            "attempt": self.attempt,
            "extra": dict(self.extra),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Row:
        """Read a row written by `to_json`.

        Raises:
            KeyError, ValueError, TypeError: The object is not a row.
        """
        values = {name: data[name] for name in cls.__slots__}
        values["status"] = RowStatus(data["status"])
        values["gold"] = tuple(data["gold"])
        values["usage"] = Usage.from_json(data["usage"])
        return cls(**values)
