"""The student's side of one item: asks the model within the item's working time and keeps count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from reflact.core.types import Item, Turn
from reflact.core.usage import Usage
from reflact.harness.protocol import Chat, Job
from reflact.models.caller import Caller
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Message, Simulation
from reflact.models.work_budget import WorkBudget


class Session:
    """A `ChatSession` for one item.

    Args:
        caller: Asks the student's model.
        benchmark: Rehearses replies for simulated students.
        item: The item.
        job: How it is to be done.
        budget: The item's working time.
        max_completion_tokens: Cap on tokens of one reply.
        call_s: Seconds that one attempt of a call may take; None: the item's whole time.
    """

    def __init__(
        self,
        caller: Caller,
        benchmark: Chat,
        item: Item,
        job: Job,
        budget: WorkBudget,
        max_completion_tokens: int,
        call_s: float | None = None,
    ) -> None:
        self._caller = caller
        self._job = job
        self._budget = budget
        self._cap = max_completion_tokens
        self.call_s = budget.seconds if call_s is None else min(call_s, budget.seconds)
        self._simulation = Simulation(
            item_id=item.id,
            repeat=job.repeat,
            skill=job.skill,
            rehearse=partial(_rehearse, benchmark, item, job.seed),
            task_type=item.task_type,
            rules=tuple(benchmark.rules()),
        )
        self._asked: list[Message] = []
        self._answered: str | None = None
        self.usage = Usage()
        self.answers = 0

    @property
    def skill(self) -> str:
        """The skill's text."""
        return self._job.skill

    @property
    def seed(self) -> int:
        """Seed of the rollout."""
        return self._job.seed

    @property
    def supports_prefill(self) -> bool:
        """Whether `prefill` has an effect."""
        return self._caller.model.supports_prefill

    async def reply(
        self,
        messages: list[Message],
        *,
        prefill: str | None = None,
        max_completion_tokens: int | None = None,
        stop: tuple[str, ...] = (),
        rehearse: Callable[[bool], str] | None = None,
    ) -> ChatReply:
        """Ask the student; see `ChatSession.reply`."""
        self._asked, self._answered = list(messages), None
        request = ChatRequest(
            messages=tuple(messages),
            max_completion_tokens=self._cap if max_completion_tokens is None else min(self._cap, max_completion_tokens),
            timeout_s=self.call_s,
            prefill=prefill if self.supports_prefill else None,
            stop=stop,
            simulation=self._simulation if rehearse is None else replace(self._simulation, rehearse=rehearse),
        )
        try:
            reply = await self._caller.ask(
                request,
                stage=self._job.stage,
                phase=self._job.phase,
                deadline=self._budget,
                alone=self._job.retry,
            )
        except CallError as error:
            self.usage += error.usage
            raise
        self.usage += reply.usage
        self.answers += 1
        self._answered = reply.text
        return reply

    def conversation(self) -> tuple[Turn, ...]:
        """What was said so far, as far as it is known here: the last request and its reply, the skill left out."""
        turns = [Turn(message.role, message.content) for message in self._asked if message.role != "system"]
        if self._answered is not None:
            turns.append(Turn("assistant", self._answered))
        return tuple(turns)


def _rehearse(benchmark: Chat, item: Item, seed: int, correct: bool) -> str:
    return benchmark.rehearse(item, correct, seed)
