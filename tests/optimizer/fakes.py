"""A scripted teacher, a journal in memory and small trajectories."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from reflact.core.types import Turn
from reflact.optimizer.types import (
    Analysis,
    Change,
    Comparison,
    EpochReview,
    Evidence,
    Evolution,
    LearningRate,
    Merge,
    MergedChange,
    Patch,
    Source,
    StepContext,
    Trajectory,
    TrajectoryRef,
    UpdateMode,
)

SKILL = "# Skill\n\n- Read the question.\n- Answer in one line.\n"


class MemoryJournal:
    """Keeps results by name and key, through JSON as a file would."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}
        self.made: list[str] = []

    async def once(self, name: str, key: str, make: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        kept = self.kept.get(name)
        if kept is None or kept[0] != key:
            self.made.append(name)
            kept = self.kept[name] = (key, json.dumps(await make()))
        result: dict[str, Any] = json.loads(kept[1])
        return result


class FakeTeacher:
    """Answers each stage by a function given as a keyword (`analyse=...`); counts and keeps the calls.

    Without one: an analyst appends a line that names its first item, a merge keeps every input, a ranking keeps
    the order given, and every text says what it is.
    """

    def __init__(self, fingerprint: str = "fake", **answers: Callable[..., Any]) -> None:
        self.fingerprint = fingerprint
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self._answers = answers

    def count(self, stage: str) -> int:
        return sum(name == stage for name, _ in self.calls)

    def _answer(self, stage: str, default: Callable[..., Any], *given: Any) -> Any:
        self.calls.append((stage, given))
        return self._answers.get(stage, default)(*given)

    async def analyse(self, context: StepContext, source: Source, trajectories: tuple[TrajectoryRef, ...]) -> Analysis:
        result: Analysis = self._answer("analyse", _analyse, context, source, trajectories)
        return result

    async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
        result: Merge = self._answer("merge", _merge, context, patches, final)
        return result

    async def rank(self, context: StepContext, changes: tuple[Change, ...], budget: int) -> tuple[int, ...]:
        result: tuple[int, ...] = self._answer("rank", lambda *_: tuple(range(len(changes))), context, changes, budget)
        return result

    async def choose_learning_rate(self, context: StepContext, evidence: Evidence) -> LearningRate:
        result: LearningRate = self._answer("choose", lambda *_: LearningRate(1, "one", "low", ""), context, evidence)
        return result

    async def rewrite(self, context: StepContext, changes: tuple[Change, ...]) -> tuple[str, str]:
        result: tuple[str, str] = self._answer(
            "rewrite", lambda *_: (f"{context.skill}\n- Rewritten.\n", "rewritten"), context, changes
        )
        return result

    async def guide(self, comparison: Comparison, former: str) -> tuple[str, str]:
        result: tuple[str, str] = self._answer("guide", lambda *_: ("why", "guidance"), comparison, former)
        return result

    async def remember(self, comparison: Comparison, former: str) -> tuple[str, str]:
        result: tuple[str, str] = self._answer("remember", lambda *_: ("why", "memory"), comparison, former)
        return result

    async def review(self, review: EpochReview, cap: int) -> tuple[str, Analysis]:
        result: tuple[str, Analysis] = self._answer(
            "review", lambda *_: ("summary", Analysis("why", (append("- reviewed"),))), review, cap
        )
        return result

    async def diagnose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> str:
        result: str = self._answer("diagnose", lambda *_: "Say which rule you used.", context, trajectories)
        return result

    async def compose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> tuple[str, str]:
        default = lambda *_: ("why", f"{context.skill}\n- Written at once.\n")  # noqa: E731
        result: tuple[str, str] = self._answer("compose", default, context, trajectories)
        return result

    async def evolve(self, evolution: Evolution) -> str:
        result: str = self._answer("evolve", lambda *_: f"```\n{evolution.skill}\n- Evolved.\n```", evolution)
        return result


def _analyse(context: StepContext, source: Source, trajectories: Sequence[TrajectoryRef]) -> Analysis:
    return Analysis("why", (append(f"- {source.value} {trajectories[0].id}"),))


def _merge(context: StepContext, patches: Sequence[Patch], final: bool) -> Merge:
    changes = [change for patch in patches for change in patch.changes]
    return Merge("merged", tuple(MergedChange(change.body, (i,)) for i, change in enumerate(changes)))


def raising(error: Exception) -> Callable[..., Any]:
    def answer(*_: Any) -> Any:
        raise error

    return answer


def append(content: str) -> dict[str, Any]:
    return {"op": "append", "target": None, "content": content}


def edit(op: Any, target: Any = None, content: Any = None) -> Change:
    return change({"op": op, "target": target, "content": content})


def change(body: Mapping[str, Any], support: Sequence[str] = ("a",), source: Source = Source.FAILURE) -> Change:
    return Change(body, source, tuple(support))


def patch(source: Source, *groups: Sequence[str]) -> Patch:
    """A patch with one append for each group of supporting ids."""
    return Patch("why", tuple(Change(append(f"- {'+'.join(ids)}"), source, tuple(ids)) for ids in groups))


def trajectory(name: str = "a", *, hard: float = 0.0, **fields: Any) -> Trajectory:
    values: dict[str, Any] = {
        "question": f"question {name}",
        "task_type": "kind",
        "fail_reason": "wrong",
        "predicted_answer": "answer",
        "soft": hard,
        "n_turns": 1,
        "conversation": (Turn("user", f"do {name}"), Turn("assistant", "done")),
        **fields,
    }
    return Trajectory(id=name, hard=hard, **values)


def ref(name: str, hard: float = 0.0, task_type: str = "kind", **fields: Any) -> TrajectoryRef:
    shown = trajectory(name, hard=hard, **{"task_type": task_type, **fields})
    return TrajectoryRef(name, hard, task_type, lambda: shown, digest=f"digest of {name}")


def context(skill: str = SKILL, mode: UpdateMode = UpdateMode.PATCH, cap: int | None = 4, **fields: Any) -> StepContext:
    return StepContext(skill=skill, mode=mode, cap=cap, **fields)
