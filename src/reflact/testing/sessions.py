"""Students for benchmarks' tests: `ChatSession`s that answer without any model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reflact.core.types import Item
from reflact.core.usage import Usage
from reflact.harness.protocol import Chat
from reflact.models.protocol import CallError, ChatReply, Message

Said = str | ChatReply | CallError
"""What a scripted student does on one turn: a text, a whole reply, or a failure to raise."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a session."""

    messages: tuple[Message, ...]
    prefill: str | None
    max_completion_tokens: int | None
    stop: tuple[str, ...]

    @property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n\n".join(message.content for message in self.messages)


@dataclass(slots=True)
class FakeSession:
    """A session whose student is a function of the conversation.

    Attributes:
        answer: Gives what the student says.
        skill: The skill's text.
        seed: Seed of the rollout.
        supports_prefill: Whether `prefill` has an effect; then an answer that begins with it goes on after it.
        right: The student does items right, or wrong, where the benchmark rehearses turn by turn; None never does.
        asked: The calls so far.
    """

    answer: Callable[[list[Message]], Said]
    skill: str = ""
    seed: int = 42
    supports_prefill: bool = False
    right: bool | None = None
    asked: list[Asked] = field(default_factory=list)

    async def reply(
        self,
        messages: list[Message],
        *,
        prefill: str | None = None,
        max_completion_tokens: int | None = None,
        stop: tuple[str, ...] = (),
        rehearse: Callable[[bool], str] | None = None,
    ) -> ChatReply:
        """Answer.

        Raises:
            CallError: The student's answer is one.
        """
        self.asked.append(Asked(tuple(messages), prefill, max_completion_tokens, stop))
        # Give other items a turn, as a call over a network would.
        await asyncio.sleep(0)
        said = self.answer(messages) if rehearse is None or self.right is None else rehearse(self.right)
        if isinstance(said, CallError):
            raise said
        if isinstance(said, ChatReply):
            return said
        if prefill is not None and self.supports_prefill:
            said = said.removeprefix(prefill)
        prompt = sum(len(message.content) for message in messages) // 4
        return ChatReply(said, "stop", Usage(calls=1, prompt_tokens=prompt, completion_tokens=len(said) // 4))


def scripted_session(
    said: Sequence[Said], *, skill: str = "", seed: int = 42, supports_prefill: bool = False
) -> FakeSession:
    """Return a session that says these things in order; the last one repeats."""
    left = list(said)

    def answer(messages: list[Message]) -> Said:
        return left.pop(0) if len(left) > 1 else left[0]

    return FakeSession(answer, skill, seed, supports_prefill)


def rehearsing_session(
    benchmark: Chat, item: Item, correct: bool, *, skill: str = "", seed: int = 42, supports_prefill: bool = False
) -> FakeSession:
    """Return a session whose student does `item` right, or wrong, as the benchmark itself rehearses it."""
    return FakeSession(lambda messages: benchmark.rehearse(item, correct, seed), skill, seed, supports_prefill, correct)
