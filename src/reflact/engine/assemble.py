"""Puts a run's parts together from the configuration."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from reflact.benchmarks.protocol import Benchmark, Closing
from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.engine.desk import Desk
from reflact.engine.evaluation import Evaluator
from reflact.engine.forecast import Forecast
from reflact.engine.gate import Metric, make_rule
from reflact.engine.keys import KeyMaker
from reflact.engine.prepare import Prepared
from reflact.engine.workbench import Workbench
from reflact.harness.protocol import Harness
from reflact.harness.registry import connect_student, make_harness
from reflact.models.agent_endpoints import AGENTS
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limit_making import make_limiter
from reflact.models.limits import Limiters
from reflact.models.protocol import ChatModel, ModelInfo
from reflact.models.registry import connect_beside, connect_role, limit_key
from reflact.models.slots import Slots
from reflact.optimizer.registry import TEMPLATE, make_teacher, teacher_prompts, without_teacher
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.types import UpdateMode


@dataclass(frozen=True, slots=True)
class Parts:
    """What must be released at the end of a run.

    Attributes:
        student: The student's model.
        teacher_info: What is recorded of the teacher.
        prompts: Version and hash of each teacher prompt.
        harness: How the student does a task.
        teacher: The teacher.
        student_slots: Items in flight.
        teacher_slots: Teacher calls in flight.
        models: Everything with connections.
        benchmark: The task, which may hold processes.
        limiters: The limits that calls share.
    """

    student: ChatModel
    teacher_info: ModelInfo
    prompts: Mapping[str, Mapping[str, str]]
    harness: Harness
    teacher: Teacher
    student_slots: Slots
    teacher_slots: Slots
    models: tuple[ChatModel, ...]
    benchmark: Benchmark
    limiters: Limiters

    async def aclose(self) -> None:
        """Release connections and processes."""
        await self.harness.aclose()
        if isinstance(self.benchmark, Closing):
            await self.benchmark.aclose()
        for model in self.models:
            await model.aclose()
        await self.limiters.aclose()


def make_parts(prepared: Prepared, desk: Desk, *, teaches: bool = True) -> Parts:
    """Connect the roles.

    Args:
        prepared: Configuration and content.
        desk: The open run directory.
        teaches: Whether there is a teacher; an evaluation has none, whatever the configuration says of one.

    Raises:
        ConfigError: A backend is unknown.
        Unavailable: A credential, program or file is missing.
    """
    config = prepared.config if teaches else without_teacher(prepared.config)
    limiters = Limiters(lambda key, remote: make_limiter(key, config.limits, desk.emit, remote=remote))
    student = connect_student(config)
    teacher_model = None if config.model.teacher_backend == TEMPLATE else connect_beside(config, Role.TEACHER, student)
    student_slots = Slots(config.env.workers, time.monotonic)
    teacher_slots = Slots(config.gradient.analyst_workers, time.monotonic)
    student_caller = _caller(config, desk, student, Role.STUDENT, limiters, None)
    harness = make_harness(config, prepared.benchmark, student_caller, desk.emit)
    caller = (
        None if teacher_model is None else _caller(config, desk, teacher_model, Role.TEACHER, limiters, teacher_slots)
    )
    rewriter_model = _rewriter(config)
    rewriter = (
        None if rewriter_model is None else _caller(config, desk, rewriter_model, Role.TEACHER, limiters, teacher_slots)
    )
    teacher = make_teacher(config, prepared.benchmark, caller, rewriter, desk.emit)
    nobody = ModelInfo(TEMPLATE, TEMPLATE) if teaches else ModelInfo("", "")
    info = teacher_model.info if teacher_model is not None else nobody
    return Parts(
        student=student,
        teacher_info=info,
        prompts=teacher_prompts(prepared.benchmark),
        harness=harness,
        teacher=teacher,
        student_slots=student_slots,
        teacher_slots=teacher_slots,
        models=tuple(model for model in (student, teacher_model, rewriter_model) if model is not None),
        benchmark=prepared.benchmark,
        limiters=limiters,
    )


def _rewriter(config: Config) -> ChatModel | None:
    """Connect the model that rewrites, where it is to think with another effort than the teacher."""
    effort = config.optimizer.rewrite_reasoning_effort
    if effort is None or config.optimizer.skill_update_mode != UpdateMode.SUGGESTIONS:
        return None
    if config.model.teacher_backend in (TEMPLATE, "rehearsal", "local"):
        return None
    return connect_role(replace(config, model=replace(config.model, teacher_reasoning_effort=effort)), Role.TEACHER)


def _caller(
    config: Config, desk: Desk, model: ChatModel, role: Role, limiters: Limiters, slots: Slots | None
) -> Caller:
    return Caller(
        model,
        role,
        limiter=limiters.of(limit_key(config, role), remote=bool(model.info.endpoint)),
        meter=desk.meter,
        policy=_policy(config, role),
        emit=desk.emit,
        clock=time.monotonic,
        rng=Random(),
        slots=slots,
        in_flight=config.env.workers if role is Role.STUDENT else config.gradient.analyst_workers,
        hide=desk.answers.exact,
    )


def _policy(config: Config, role: Role) -> RetryPolicy:
    policy = RetryPolicy.of(config.limits)
    if role is Role.STUDENT and config.model.student_backend in AGENTS:
        return replace(policy, hedge_after=None)  # an answer that is handed on while it comes cannot be had twice
    return policy


def assemble(prepared: Prepared, desk: Desk, parts: Parts, code: str) -> Workbench:
    """Return what the loop works with."""
    config = prepared.config
    evaluation = config.evaluation
    evaluator = make_evaluator(prepared, desk, parts, code)
    return Workbench(
        config=config,
        benchmark=prepared.benchmark,
        split=prepared.split,
        schedule=prepared.schedule,
        initial_skill=prepared.skill,
        evaluator=evaluator,
        teacher=parts.teacher,
        rule=make_rule(evaluation),
        metric=Metric(evaluation.gate_metric, evaluation.gate_mixed_weight),
        meter=desk.meter,
        layout=desk.layout,
        syncer=desk.syncer,
        emit=desk.emit,
        check=desk.claim.check,
        forecast=Forecast(parts.student_slots, parts.teacher_slots, time.monotonic),
    )


def make_evaluator(prepared: Prepared, desk: Desk, parts: Parts, code: str) -> Evaluator:
    """Return what runs evaluations and rollouts.

    Args:
        prepared: Configuration and content.
        desk: The open run directory.
        parts: Models and harness.
        code: The code version that began the run: rows of a run share one key also when a later version goes on.
    """
    return Evaluator(
        harness=parts.harness,
        slots=parts.student_slots,
        keys=KeyMaker(prepared.split.fingerprints, setting(prepared, parts.student, code)),
        config=prepared.config.evaluation,
        syncer=desk.syncer,
        emit=desk.emit,
        check=desk.claim.check,
        answers=desk.answers,
    )


def setting(prepared: Prepared, student: ChatModel, code: str) -> dict[str, Any]:
    """Return what all rows of a run share: everything but skill, items and seed that decides what a row would be."""
    config, info = prepared.config, student.info
    return {
        "benchmark": prepared.benchmark.name,
        "benchmark_version": prepared.benchmark.version,
        "benchmark_settings": dict(prepared.benchmark.settings()),
        "harness": config.model.student_backend,
        "model": info.model,
        "model_settings": dict(info.settings),
        "max_completion_tokens": config.env.max_completion_tokens,
        "exec_timeout": config.env.exec_timeout,
        "call_timeout": config.env.call_timeout,
        "code_version": code,
    }
