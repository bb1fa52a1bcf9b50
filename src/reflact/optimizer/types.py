"""Edits, patches and what the teacher is asked: the vocabulary of the optimizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from reflact.core.types import Turn


class Op(StrEnum):
    """What an edit does."""

    APPEND = "append"
    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"


class Source(StrEnum):
    """What a change comes from: failed or successful trajectories, or (meta reflect) an epoch's history."""

    FAILURE = "failure"
    SUCCESS = "success"
    HISTORY = "history"


class UpdateMode(StrEnum):
    """How changes are expressed (`optimizer.skill_update_mode`)."""

    PATCH = "patch"
    SUGGESTIONS = "rewrite_from_suggestions"
    FULL_REWRITE = "full_rewrite_minibatch"


@dataclass(frozen=True, slots=True)
class Change:
    """One proposed change: an edit, a suggestion or a whole draft, by update mode.

    Attributes:
        body: What the teacher wrote: `{op, target, content}` of an edit, `{type, title, motivation,
            instruction}` of a suggestion, `{skill}` of a draft. As replied: it may be invalid.
        source: Attached by us, never taken from the model.
        support: Ids of the distinct trajectories behind it, in batch order; attached by us.
    """

    body: Mapping[str, Any]
    source: Source
    support: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes of one minibatch, of a merge, or of a whole step."""

    reasoning: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What a teacher sees of one item; every text may be None."""

    id: str
    question: str | None
    task_type: str | None
    fail_reason: str | None
    predicted_answer: str | None
    hard: float
    soft: float
    n_turns: int
    conversation: tuple[Turn, ...]
    gold: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TrajectoryRef:
    """A trajectory on disk: loaded when a prompt is built, so that memory does not grow with the split.

    `digest` is a hash of all that `load` would show.
    """

    id: str
    hard: float
    task_type: str
    load: Callable[[], Trajectory]
    digest: str = ""


@dataclass(frozen=True, slots=True)
class FailureType:
    """A kind of failure as an analyst counted it; `count` is clipped to the minibatch's size."""

    failure_type: str
    count: int
    description: str


@dataclass(frozen=True, slots=True)
class BufferEntry:
    """What the step buffer keeps of a finished step of this epoch (never a selection score)."""

    step: int
    action: str
    n: int
    failures: int
    failure_types: tuple[FailureType, ...]
    rejected_edits: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class StepContext:
    """What every teacher call of a step may see beside its own input.

    Attributes:
        skill: The current skill.
        mode: How changes are expressed.
        cap: Most changes an analyst may reply with; None is unlimited.
        buffer: Earlier steps of this epoch.
        meta_skill: The teacher's memory from earlier epochs, `""` if there is none.
        seed: Seed of the step, for teachers that draw (simulated ones).
    """

    skill: str
    mode: UpdateMode
    cap: int | None
    buffer: tuple[BufferEntry, ...] = ()
    meta_skill: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analyst's reply, before provenance is attached."""

    reasoning: str
    changes: tuple[Mapping[str, Any], ...]
    failure_types: tuple[FailureType, ...] = ()
    success_patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedChange:
    """A merged change and the indices of the input changes that it came from."""

    body: Mapping[str, Any]
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge reply."""

    reasoning: str
    changes: tuple[MergedChange, ...]


class PairKind(StrEnum):
    """How an item went under the former and the current skill."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    PERSISTENT_FAIL = "persistent_fail"
    STABLE_SUCCESS = "stable_success"


@dataclass(frozen=True, slots=True)
class Pair:
    """One item under two skills."""

    id: str
    kind: PairKind
    previous: TrajectoryRef
    current: TrajectoryRef


@dataclass(frozen=True, slots=True)
class Comparison:
    """What slow update and meta skill look at: two skills and the pairs between them."""

    previous_skill: str
    current_skill: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a search asks for: a new text in place of a skill that was tried on a few items.

    Attributes:
        skill: The text to replace, without its protected block.
        trajectories: What it did on the items.
        prompt: The search's own prompt about both, for teachers that read prompts.
        seed: Seed of the iteration, for teachers that draw (simulated ones).
    """

    skill: str
    trajectories: tuple[TrajectoryRef, ...]
    prompt: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class EpochReview:
    """What meta reflect looks at: the epoch's records (as in history.jsonl) and the former summary."""

    epoch: int
    records: tuple[Mapping[str, Any], ...]
    meta_summary: str
    skill: str


@dataclass(frozen=True, slots=True)
class LearningRate:
    """The teacher's own choice of an edit budget."""

    learning_rate: int
    reasoning: str
    confidence: str
    risk_notes: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an autonomous learning rate rests on: the rollout and the merged changes."""

    n: int
    hard: float
    soft: float
    changes: tuple[Change, ...] = field(default_factory=tuple)
