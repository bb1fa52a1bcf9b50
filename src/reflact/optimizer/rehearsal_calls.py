"""Simulated teacher calls: they take time, meet limits, fail and cost like real ones."""

from __future__ import annotations

import json
from typing import Protocol

from reflact.core.errors import Stopped
from reflact.core.hashing import digest
from reflact.core.names import Phase, Stage, StopCause
from reflact.core.types import Json
from reflact.models.caller import Caller
from reflact.models.protocol import CallError, ChatRequest, Failure, Message, Simulation
from reflact.optimizer.teacher import TeacherFailure


class Calls(Protocol):
    """Where a simulated teacher's calls are paid."""

    async def make(self, stage: Stage, phase: Phase, prompt: str, reply: Json) -> None:
        """Make a call that sends `prompt` and gets `reply`.

        Raises:
            TeacherFailure: The call gave nothing.
        """
        ...


class FreeCalls:
    """Calls that take no time and cost nothing, for tests."""

    async def make(self, stage: Stage, phase: Phase, prompt: str, reply: Json) -> None:
        """Return at once."""


class CallerCalls:
    """Calls through the teacher's caller, so that a rehearsal meets retries, limits, budget and events.

    Args:
        caller: Asks a `RehearsalModel`.
        timeout_s: Seconds that one attempt may take.
        max_completion_tokens: Cap of a reply.
    """

    def __init__(self, caller: Caller, timeout_s: float, max_completion_tokens: int) -> None:
        self._caller = caller
        self._timeout_s = timeout_s
        self._cap = max_completion_tokens

    async def make(self, stage: Stage, phase: Phase, prompt: str, reply: Json) -> None:
        """Make the call; an empty reply is asked for once more."""
        text = json.dumps(reply, ensure_ascii=False)
        request = ChatRequest(
            messages=(Message("user", prompt),),
            max_completion_tokens=self._cap,
            timeout_s=self._timeout_s,
            simulation=Simulation(digest([stage.value, prompt]), 0, "", lambda correct: text),
        )
        for _ in range(2):
            if await self._ask(request, stage, phase):
                return
        raise TeacherFailure("empty", "the reply was empty twice (simulated)")

    async def _ask(self, request: ChatRequest, stage: Stage, phase: Phase) -> str:
        try:
            return (await self._caller.ask(request, stage=stage.value, phase=phase.value)).text
        except CallError as error:
            cause = StopCause.RATE_LIMIT if error.failure is Failure.RATE_LIMIT else StopCause.ERRORS
            raise Stopped(cause, f"the simulated teacher gave no answer: {error}") from error
