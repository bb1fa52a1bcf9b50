"""The teacher behind prompts, through the real client and caller, against a scripted server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from reflact.config.schema import Config
from reflact.core.errors import Stopped
from reflact.core.names import Role, StopCause
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limits import LocalLimiter
from reflact.models.meter import Meter
from reflact.models.openai_chat import connect
from reflact.optimizer.llm_teacher import LLMTeacher
from reflact.optimizer.prompt_library import PromptLibrary
from reflact.optimizer.teacher import TeacherFailure
from reflact.testing import Fault, Reply, ScriptedServer, SeenRequest
from reflact.testing.brains.teacher import Teacher as Brain

from .test_llm_teacher import STAGES

Use = Callable[[LLMTeacher], Coroutine[Any, Any, Any]]


def brain(seen: SeenRequest) -> Reply:
    return Reply(Brain().answer(seen) or "")


def run(server: ScriptedServer, use: Use) -> Any:
    config = Config()
    config.model.teacher_base_url = server.base_url
    config.limits.max_attempts = 2
    config.limits.backoff_s = 0.0
    config.limits.max_retry_after_s = 0.2

    async def work() -> Any:
        caller = Caller(
            connect(config, Role.TEACHER, environ={"OPENAI_API_KEY": "a-key"}),
            Role.TEACHER,
            limiter=LocalLimiter(config.limits, time.monotonic),
            meter=Meter({}),
            policy=RetryPolicy.of(config.limits),
            emit=lambda event: None,
            clock=time.monotonic,
            rng=Random(0),
        )
        try:
            return await use(LLMTeacher(caller, config, PromptLibrary.load(), lambda event: None))
        finally:
            await caller.aclose()

    return asyncio.run(work())


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_gets_a_usable_reply_from_a_server_that_follows_schemas(name: str) -> None:
    with ScriptedServer(brain) as server:
        assert run(server, STAGES[name][0]) is not None
        assert [seen.schema is not None for seen in server.log.requests] == [True]


def test_a_content_filter_costs_the_call_and_not_the_run() -> None:
    with ScriptedServer(lambda seen: Fault.content_filter()) as server, pytest.raises(TeacherFailure) as caught:
        run(server, STAGES["rank"][0])
    assert caught.value.cause == "refused"


def test_rate_limits_without_end_stop_the_run_resumably() -> None:
    with ScriptedServer(lambda seen: Fault.http(429)) as server, pytest.raises(Stopped) as caught:
        run(server, STAGES["rank"][0])
    assert caught.value.cause is StopCause.RATE_LIMIT
    assert len(server.log.requests) >= 2
