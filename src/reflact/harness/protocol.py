"""The borders around a student at work: benchmark - harness - engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reflact.core.names import Phase, Stage
from reflact.core.types import Item, Outcome, Rule
from reflact.core.usage import Usage
from reflact.models.protocol import ChatReply, Message


class ChatSession(Protocol):
    """A student that answers messages while one item is being done.

    The session applies the item's deadline, retries, limits and usage. A call that fails for good raises
    `CallError`; the harness, not the benchmark, turns that into the outcome.
    """

    @property
    def skill(self) -> str:
        """The skill's text as the student reads it; `""` for none."""
        ...

    @property
    def seed(self) -> int:
        """Seed of this rollout: the batch's in training, the run's in evaluations."""
        ...

    @property
    def supports_prefill(self) -> bool:
        """Whether `prefill` has an effect."""
        ...

    async def reply(
        self,
        messages: list[Message],
        *,
        prefill: str | None = None,
        max_completion_tokens: int | None = None,
        stop: tuple[str, ...] = (),
        rehearse: Callable[[bool], str] | None = None,
    ) -> ChatReply:
        """Ask the student.

        Args:
            messages: The whole conversation, the skill included where the benchmark wants it.
            prefill: First words of the reply, for backends that can.
            max_completion_tokens: A cap below the configured one (`env.max_completion_tokens`).
            stop: Texts that end the reply, for backends that can.
            rehearse: What a simulated student says on this turn if it does the item right (True) or wrong; None
                takes `Chat.rehearse`, which knows no turns.
        """
        ...


class Chat(Protocol):
    """What a benchmark offers a harness whose student answers messages."""

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Do one item and score it."""
        ...

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Return a reply that extraction and scoring find right or wrong, for simulated students."""
        ...

    def rules(self) -> Sequence[Rule]:
        """Hidden rules for rehearsals; the harness hands them on in `Simulation.rules`."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """How an item is to be done.

    Attributes:
        skill: The skill's text.
        seed: Seed of the rollout.
        repeat: Which pass over the split, from 0.
        stage: Stage that pays for it.
        phase: What it is for.
        again: The item got no answer before; a second `no_answer` is a `timeout`, not an `error`.
        retry: The item failed before, so another failure says nothing about the service.
    """

    skill: str
    seed: int
    repeat: int
    stage: Stage
    phase: Phase
    again: bool = False
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Performance:
    """What doing an item gave and cost.

    Attributes:
        outcome: How it ended.
        usage: Tokens and calls, failed attempts included.
        latency_s: Working time in seconds, waiting for limits left out.
        wait_s: Seconds spent waiting for rate limits and between attempts.
    """

    outcome: Outcome
    usage: Usage
    latency_s: float
    wait_s: float


class Harness(Protocol):
    """How a student does a task."""

    @property
    def name(self) -> str:
        """The harness's name in records."""
        ...

    async def perform(self, item: Item, job: Job) -> Performance:
        """Do one item.

        A failure that concerns the item or that may pass comes back as an outcome (`error`, `refused`,
        `timeout`, `empty`); one that every other item would share is raised.

        Raises:
            Unavailable: Credential, deployment or program missing.
            Stopped: A budget was reached.
        """
        ...

    async def aclose(self) -> None:
        """End everything that the harness started."""
        ...
