"""The teacher that is a language model behind prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflact.config.schema import Config
from reflact.core.events import Emit
from reflact.core.hashing import digest
from reflact.core.names import Phase, Stage
from reflact.core.types import Json
from reflact.models.protocol import ModelInfo
from reflact.optimizer import presenting as show
from reflact.optimizer import schemas
from reflact.optimizer.buffer import render
from reflact.optimizer.comparison import pairs_of
from reflact.optimizer.prompt_library import PromptLibrary
from reflact.optimizer.teacher_calls import Asker, Form, TeacherCalls
from reflact.optimizer.types import (
    Analysis,
    Change,
    Comparison,
    EpochReview,
    Evidence,
    Evolution,
    FailureType,
    LearningRate,
    Merge,
    MergedChange,
    PairKind,
    Patch,
    Source,
    StepContext,
    TrajectoryRef,
    UpdateMode,
)

_ANALYSTS = {
    (UpdateMode.PATCH, Source.FAILURE): "analyse_failure",
    (UpdateMode.PATCH, Source.SUCCESS): "analyse_success",
    (UpdateMode.SUGGESTIONS, Source.FAILURE): "suggest_failure",
    (UpdateMode.SUGGESTIONS, Source.SUCCESS): "suggest_success",
    (UpdateMode.FULL_REWRITE, Source.FAILURE): "draft",
    (UpdateMode.FULL_REWRITE, Source.SUCCESS): "draft",
}


@dataclass(frozen=True, slots=True)
class _Limits:
    """What bounds prompts and replies."""

    reply_tokens: int
    skill_tokens: int
    trajectory_chars: int
    skill_chars: int
    batch_chars: int


class LLMTeacher:
    """Renders a prompt a stage, asks for structured output and reads the reply."""

    def __init__(
        self,
        caller: Asker,
        config: Config,
        prompts: PromptLibrary,
        emit: Emit,
        rewriter: Asker | None = None,
    ) -> None:
        """Prepare the teacher.

        Args:
            caller: Asks the teacher's model.
            config: The run's configuration.
            prompts: The prompts, with the benchmark's own among them.
            emit: Where warnings go.
            rewriter: Asks the model that rewrites suggestions, where `optimizer.rewrite_reasoning_effort` gives
                it an effort of its own; None takes `caller`.
        """
        self._caller = caller
        self._rewriter = caller if rewriter is None else rewriter
        self._limits = _Limits(
            reply_tokens=config.model.teacher_max_completion_tokens,
            skill_tokens=config.optimizer.rewrite_max_completion_tokens,
            trajectory_chars=config.gradient.max_trajectory_chars,
            skill_chars=config.optimizer.max_skill_chars,
            batch_chars=config.gradient.max_trajectory_chars * config.gradient.minibatch_size,
        )
        self._calls = TeacherCalls(prompts, emit, config.gradient.analyst_workers, config.model.teacher_timeout)
        self._fingerprint = digest(
            {
                "caller": _identity(caller.model.info),
                "rewriter": _identity(self._rewriter.model.info),
                "prompts": prompts.hashes,
                "limits": {name: getattr(self._limits, name) for name in _Limits.__slots__},
            }
        )

    @property
    def fingerprint(self) -> str:
        """Hash over models with their settings, prompts and limits; endpoints do not take part."""
        return self._fingerprint

    async def analyse(self, context: StepContext, source: Source, trajectories: tuple[TrajectoryRef, ...]) -> Analysis:
        """Read one minibatch and propose changes."""
        whole = context.mode is UpdateMode.FULL_REWRITE
        form = self._form(
            _ANALYSTS[context.mode, source], Stage.REFLECT, schemas.analysis(context.mode, source), whole_skill=whole
        )

        def values() -> dict[str, Json]:
            shown = {**_shared(context), "trajectories": self._show(trajectories)}
            if whole:
                return {**shown, "label": show.SOURCE_LABELS[source], "max_chars": self._limits.skill_chars}
            return {**shown, "cap": context.cap}

        reply = await self._calls.ask(self._caller, form, values)
        if whole:
            return Analysis("\n".join(reply["lessons"]), ({"skill": reply["skill"]},))
        return _analysis(reply, context.mode)

    async def merge(self, context: StepContext, patches: tuple[Patch, ...], final: bool) -> Merge:
        """Combine patches into one."""
        if context.mode is UpdateMode.FULL_REWRITE:
            return await self._merge_drafts(context, patches)
        form = self._form("merge", Stage.AGGREGATE, schemas.merge(context.mode))
        reply = await self._calls.ask(
            self._caller,
            form,
            lambda: {
                **_shared(context),
                "mode": context.mode.value,
                "final": final,
                "sides": show.show_patches(patches),
            },
        )
        return Merge(reply["reasoning"], tuple(_merged(change) for change in reply[schemas.changes_name(context.mode)]))

    async def rank(self, context: StepContext, changes: tuple[Change, ...], budget: int) -> tuple[int, ...]:
        """Return indices of `changes` in order of priority."""
        reply = await self._calls.ask(
            self._caller,
            self._form("rank", Stage.SELECT, schemas.ranking()),
            lambda: {**_shared(context), "budget": budget, "changes": show.show_changes(changes)},
        )
        return tuple(reply["indices"])

    async def choose_learning_rate(self, context: StepContext, evidence: Evidence) -> LearningRate:
        """Choose an edit budget from the evidence alone."""
        reply = await self._calls.ask(
            self._caller,
            self._form("choose_learning_rate", Stage.LEARNING_RATE, schemas.learning_rate()),
            lambda: {
                **_shared(context),
                "n": evidence.n,
                "hard": evidence.hard,
                "soft": evidence.soft,
                "changes": show.show_changes(evidence.changes),
            },
        )
        return LearningRate(**reply)

    async def rewrite(self, context: StepContext, changes: tuple[Change, ...]) -> tuple[str, str]:
        """Carry suggestions out; return the whole new skill and a summary of what changed."""
        reply = await self._calls.ask(
            self._rewriter,
            self._form("rewrite", Stage.REWRITE, schemas.rewrite(), whole_skill=True),
            lambda: {
                **_shared(context),
                "suggestions": show.show_changes(changes),
                "max_chars": self._limits.skill_chars,
            },
        )
        return reply["skill"], reply["change_summary"]

    async def guide(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Write slow-update guidance."""
        form = self._form("slow_update", Stage.SLOW_UPDATE, schemas.slow_update(), phase=Phase.SLOW)
        reply = await self._calls.ask(self._caller, form, lambda: self._comparison(comparison, former))
        return reply["reasoning"], reply["slow_update_content"]

    async def remember(self, comparison: Comparison, former: str) -> tuple[str, str]:
        """Write the meta skill."""
        form = self._form("meta_skill", Stage.META_SKILL, schemas.meta_skill(), phase=Phase.SLOW)
        reply = await self._calls.ask(self._caller, form, lambda: self._comparison(comparison, former))
        return reply["reasoning"], reply["meta_skill_content"]

    async def review(self, review: EpochReview, cap: int) -> tuple[str, Analysis]:
        """Reflect on an epoch."""
        reply = await self._calls.ask(
            self._caller,
            self._form("meta_reflect", Stage.META_REFLECT, schemas.meta_reflect()),
            lambda: {
                "epoch": review.epoch,
                "records": show.show_records(review.records),
                "former": review.meta_summary,
                "skill": review.skill,
                "cap": cap,
            },
        )
        return reply["meta_summary"], _analysis(reply, UpdateMode.PATCH)

    async def diagnose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> str:
        """Write a short diagnostic instruction for a deep reflect."""
        reply = await self._calls.ask(
            self._caller,
            self._form("diagnose", Stage.DEEP_REFLECT, schemas.diagnosis()),
            lambda: {**_shared(context), "trajectories": self._show(trajectories)},
        )
        instruction: str = reply["instruction"]
        return instruction

    async def compose(self, context: StepContext, trajectories: tuple[TrajectoryRef, ...]) -> tuple[str, str]:
        """Write a whole skill at once; the batch shares the room that a minibatch has."""
        chars, count = show.share_room(self._limits.batch_chars, self._limits.trajectory_chars, len(trajectories))
        reply = await self._calls.ask(
            self._caller,
            self._form("one_shot", Stage.REWRITE, schemas.one_shot(), whole_skill=True),
            lambda: {
                "skill": context.skill,
                "trajectories": [show.show_trajectory(ref.load(), chars) for ref in trajectories[:count]],
                "max_chars": self._limits.skill_chars,
            },
        )
        return reply["reasoning"], reply["skill"]

    async def evolve(self, evolution: Evolution) -> str:
        """Send the search's prompt as it is."""
        return await self._calls.say(self._caller, evolution.prompt, Stage.REFLECT, self._limits.skill_tokens)

    async def _merge_drafts(self, context: StepContext, patches: Sequence[Patch]) -> Merge:
        reply = await self._calls.ask(
            self._caller,
            self._form("merge_drafts", Stage.AGGREGATE, schemas.merge(context.mode), whole_skill=True),
            lambda: {
                **_shared(context),
                "drafts": show.show_drafts(patches),
                "max_chars": self._limits.skill_chars,
            },
        )
        return Merge(reply["reasoning"], (MergedChange({"skill": reply["skill"]}, tuple(reply["sources"])),))

    def _form(
        self,
        prompt: str,
        stage: Stage,
        schema: Mapping[str, Any],
        *,
        whole_skill: bool = False,
        phase: Phase = Phase.TRAIN,
    ) -> Form:
        """Describe a call; one that writes a whole skill has the rewriter's room."""
        tokens = self._limits.skill_tokens if whole_skill else self._limits.reply_tokens
        return Form(prompt, stage, schema, tokens, phase)

    def _show(self, trajectories: Sequence[TrajectoryRef]) -> list[str]:
        return [show.show_trajectory(ref.load(), self._limits.trajectory_chars) for ref in trajectories]

    def _comparison(self, comparison: Comparison, former: str) -> dict[str, Json]:
        """Show pairs that teach something with both trajectories, stable successes as a list of tasks."""
        shown = pairs_of(comparison, PairKind.REGRESSED, PairKind.PERSISTENT_FAIL, PairKind.IMPROVED)
        stable = pairs_of(comparison, PairKind.STABLE_SUCCESS)
        return {
            "previous_skill": comparison.previous_skill,
            "current_skill": comparison.current_skill,
            "former": former,
            "pairs": [show.show_pair(pair, self._limits.trajectory_chars) for pair in shown],
            "stable": "\n".join(f"{pair.id} {pair.current.task_type}".rstrip() for pair in stable),
        }


def _shared(context: StepContext) -> dict[str, Json]:
    """Return what every call of a step may see."""
    return {"skill": context.skill, "buffer": render(context.buffer), "meta_skill": context.meta_skill}


def _analysis(reply: Mapping[str, Json], mode: UpdateMode) -> Analysis:
    patch = reply["patch"]
    return Analysis(
        reasoning=patch["reasoning"],
        changes=tuple(patch[schemas.changes_name(mode)]),
        failure_types=tuple(FailureType(**kind) for kind in reply.get("failure_summary", ())),
        success_patterns=tuple(reply.get("success_patterns", ())),
    )


def _merged(change: Mapping[str, Json]) -> MergedChange:
    body = {name: value for name, value in change.items() if name != "sources"}
    return MergedChange(body, tuple(change["sources"]))


def _identity(info: ModelInfo) -> dict[str, Json]:
    return {"backend": info.backend, "model": info.model, "settings": dict(info.settings)}
