"""One teacher call: prompt, structured reply, one second chance, and what a failure means for the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from reflact.core.errors import Stopped, Unavailable
from reflact.core.events import Emit, Warned
from reflact.core.names import Phase, Stage, StopCause
from reflact.core.types import Json
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, Message, ModelInfo, ReplySchema
from reflact.optimizer.presenting import cut_middle
from reflact.optimizer.prompt_library import PromptLibrary
from reflact.optimizer.replies import InvalidReply, read_reply
from reflact.optimizer.schemas import portable
from reflact.optimizer.teacher import TeacherFailure

_QUOTED_CHARS = 4000
_NO_TEXT = "(no text)"


class HasInfo(Protocol):
    """A model, as far as its description goes."""

    @property
    def info(self) -> ModelInfo:
        """What is recorded of the model."""
        ...


class Asker(Protocol):
    """What is needed of `reflact.models.caller.Caller`."""

    @property
    def model(self) -> HasInfo:
        """The model asked."""
        ...

    async def ask(self, request: ChatRequest, *, stage: str, phase: str) -> ChatReply:
        """Get an answer, or raise `CallError` after all attempts."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """What a call is for and what its reply must look like.

    Attributes:
        prompt: Name of the prompt.
        stage: Stage that pays.
        schema: Schema of the reply; empty for free text.
        phase: What it is for.
        max_tokens: Cap on tokens of the reply.
    """

    prompt: str
    stage: Stage
    schema: Mapping[str, Any]
    max_tokens: int
    phase: Phase = Phase.TRAIN


class TeacherCalls:
    """Makes calls of one teacher, a bounded number of them at a time.

    A call's prompt is built when its turn has come, so that memory does not grow with the number of calls that
    wait.
    """

    def __init__(self, library: PromptLibrary, emit: Emit, workers: int, timeout_s: float) -> None:
        """Prepare.

        Args:
            library: The prompts.
            emit: Where warnings go.
            workers: Most calls in flight (`gradient.analyst_workers`).
            timeout_s: Seconds that one attempt may take.
        """
        self._library = library
        self._emit = emit
        self._turns = asyncio.Semaphore(workers)
        self._timeout_s = timeout_s

    async def ask(self, asker: Asker, form: Form, values: Callable[[], dict[str, Json]]) -> dict[str, Json]:
        """Get a reply in the form asked for.

        A reply that is cut off, empty or does not follow the schema is asked for once more, with the reason.

        Args:
            asker: Whom to ask.
            form: What for.
            values: Gives the prompt's values when the call begins.

        Raises:
            TeacherFailure: Refused, or not usable twice.
            Stopped, Unavailable: The service failed; the run can be resumed when it works again.
        """
        async with self._turns:
            messages = [
                Message("system", self._library.render("system")),
                Message("user", self._library.render(form.prompt, **values())),
            ]
            reply = await self._send(asker, form, messages)
            try:
                return read_reply(reply.text, reply.finish_reason, form.schema)
            except InvalidReply as problem:
                self._warn(form, problem, "it is asked once more")
                messages += self._second_chance(reply, problem)
            reply = await self._send(asker, form, messages)
            try:
                return read_reply(reply.text, reply.finish_reason, form.schema)
            except InvalidReply as problem:
                self._warn(form, problem, "it is given up")
                raise TeacherFailure(problem.cause, f"{form.prompt}: {problem}") from problem

    async def say(self, asker: Asker, prompt: str, stage: Stage, max_tokens: int) -> str:
        """Get a free text for a prompt that is not one of ours; an empty or cut reply is asked for once more.

        Raises:
            TeacherFailure: Refused, or not usable twice.
            Stopped, Unavailable: The service failed; the run can be resumed when it works again.
        """
        form = Form("free", stage, {}, max_tokens)
        async with self._turns:
            for what_next in ("it is asked once more", "it is given up"):
                reply = await self._send(asker, form, [Message("user", prompt)])
                if reply.text.strip() and reply.finish_reason != "length":
                    return reply.text
                cause = "truncated" if reply.finish_reason == "length" else "empty"
                problem = InvalidReply(cause, f"it was {cause}.")
                self._warn(form, problem, what_next)
        raise TeacherFailure(problem.cause, f"{form.prompt}: {problem}")

    def _second_chance(self, reply: ChatReply, problem: InvalidReply) -> list[Message]:
        quoted = cut_middle(reply.text, _QUOTED_CHARS) if reply.text.strip() else _NO_TEXT
        return [
            Message("assistant", quoted),
            Message("user", self._library.render("reask", problem=str(problem))),
        ]

    async def _send(self, asker: Asker, form: Form, messages: list[Message]) -> ChatReply:
        request = ChatRequest(
            messages=tuple(messages),
            max_completion_tokens=form.max_tokens,
            timeout_s=self._timeout_s,
            schema=ReplySchema(form.prompt, portable(form.schema)) if form.schema else None,
        )
        try:
            return await asker.ask(request, stage=form.stage, phase=form.phase)
        except CallError as error:
            raise _meaning(error, form) from error

    def _warn(self, form: Form, problem: InvalidReply, what_next: str) -> None:
        self._emit(
            Warned(
                f"teacher_reply_{problem.cause}",
                f"the teacher's reply to {form.prompt} is {problem.cause}; {what_next}",
                {"stage": form.stage.value, "prompt": form.prompt, "problem": str(problem)[:200]},
            )
        )


def _meaning(error: CallError, form: Form) -> Exception:
    """Return what a call without an answer means: for this one request, or for the run."""
    message = f"teacher, {form.prompt}: {error}"
    if error.item_specific or error.failure is Failure.CONTENT_FILTER:
        return TeacherFailure("refused", message)
    if not error.failure.retryable:
        return Unavailable(message)
    cause = StopCause.RATE_LIMIT if error.failure is Failure.RATE_LIMIT else StopCause.ERRORS
    return Stopped(cause, message)
