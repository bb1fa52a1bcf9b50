"""Teacher `local`: the small model in this process chooses which failure becomes a worked example.

A model of 135 million parameters cannot write a useful reflection. It can point at one of a few numbered items,
held to a number by a schema; the rest is the template teacher's plan. With a larger model of one's own
(`model.local_path`) the general teacher of prompts is the right one.
"""

from __future__ import annotations

import json
from typing import Any

from reflact.core.errors import Stopped
from reflact.core.hashing import digest
from reflact.core.names import Phase, Stage, StopCause
from reflact.models.caller import Caller
from reflact.models.protocol import CallError, ChatRequest, Message, ReplySchema
from reflact.optimizer.teacher import TeacherFailure
from reflact.optimizer.template_teacher import TemplateTeacher, worked_example
from reflact.optimizer.types import StepContext, Trajectory

MOST_SHOWN = 8
"""Candidates that one choice sees: more would not fit the small model's context beside their answers."""
REPLY_TOKENS = 24
_ASK = "Which one of these examples is the clearest? Reply with its number."


def local_teacher(caller: Caller, timeout_s: float) -> TemplateTeacher:
    """Return the template teacher with the model's choice of examples.

    Args:
        caller: Asks the teacher's model.
        timeout_s: Seconds that one attempt may take.
    """
    return TemplateTeacher(ModelChooser(caller, timeout_s))


class ModelChooser:
    """Lets a model point at one example after the other."""

    def __init__(self, caller: Caller, timeout_s: float) -> None:
        self._caller = caller
        self._timeout_s = timeout_s

    @property
    def fingerprint(self) -> str:
        """Hash over model and question."""
        info = self._caller.model.info
        return digest(["choice", info.model, dict(info.settings), _ASK, MOST_SHOWN])

    async def choose(self, context: StepContext, candidates: tuple[Trajectory, ...], count: int) -> tuple[int, ...]:
        """Return the indices that the model points at, in its order.

        Raises:
            TeacherFailure: The reply named none of the examples.
        """
        left = list(range(min(len(candidates), MOST_SHOWN)))
        chosen: list[int] = []
        while left and len(chosen) < count:
            # The last one left needs no call.
            number = 1 if len(left) == 1 else await self._ask([candidates[index] for index in left])
            chosen.append(left.pop(number - 1))
        return tuple(chosen)

    async def _ask(self, shown: list[Trajectory]) -> int:
        examples = [f"Example {number}\n{worked_example(item)}" for number, item in enumerate(shown, start=1)]
        request = ChatRequest(
            messages=(Message("user", "\n\n".join([*examples, _ASK])),),
            max_completion_tokens=REPLY_TOKENS,
            timeout_s=self._timeout_s,
            schema=_schema(len(shown)),
        )
        try:
            reply = await self._caller.ask(request, stage=Stage.REFLECT.value, phase=Phase.TRAIN.value)
        except CallError as error:
            if error.item_specific:
                raise TeacherFailure("refused", str(error)) from error
            raise Stopped(StopCause.ERRORS, f"the teacher gave no answer: {error}") from error
        return _number(reply.text, len(shown))


def _schema(count: int) -> ReplySchema:
    return ReplySchema(
        "choice",
        {
            "type": "object",
            "properties": {"example": {"type": "integer", "enum": list(range(1, count + 1))}},
            "required": ["example"],
            "additionalProperties": False,
        },
    )


def _number(text: str, count: int) -> int:
    try:
        reply: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise TeacherFailure("invalid", f"the choice is not JSON: {text[:80]!r}") from error
    number = reply.get("example") if isinstance(reply, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= count:
        raise TeacherFailure("invalid", f"the choice names no example of 1 to {count}: {text[:80]!r}")
    return number
