"""One question, one answer: asking the student, and once more if no usable text came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reflact.core.names import RowStatus
from reflact.core.types import Outcome, Turn
from reflact.harness.agent import Assignment, Handed
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import ChatReply, Message

_ATTEMPTS = 2
_LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply that can be scored.

    Attributes:
        text: The reply.
        truncated: It was cut by the token cap, but its answer is whole.
        n_turns: Calls that were answered.
        conversation: User and assistant turns; the system prompt is left out, since it repeats the skill.
    """

    text: str
    truncated: bool
    n_turns: int
    conversation: tuple[Turn, ...]


async def ask(session: ChatSession, messages: list[Message], whole_answer: Callable[[str], bool]) -> Answered | Outcome:
    """Ask once, and once more if the first reply is not usable.

    A reply is usable if it holds text and, where the token cap cut it, if its answer is whole nevertheless.

    Args:
        session: The student.
        messages: The conversation.
        whole_answer: Whether a reply that was cut holds an answer that cannot have been cut itself.

    Returns:
        The reply, or the outcome `empty` with cause `empty` or `length` (that of the last reply).
    """
    turns = [Turn(message.role, message.content) for message in messages if message.role != "system"]
    reply: ChatReply | None = None
    for attempt in range(1, _ATTEMPTS + 1):
        reply = await session.reply(list(messages))
        turns.append(Turn("assistant", reply.text))
        cut = reply.finish_reason == _LENGTH
        if reply.text.strip() and (not cut or whole_answer(reply.text)):
            return Answered(reply.text, cut, attempt, tuple(turns))
    assert reply is not None
    return _empty(reply, tuple(turns))


def assignment(messages: Sequence[Message]) -> Assignment:
    """Return the messages of a chat turn as what an agent gets."""
    return Assignment(
        system="\n\n".join(message.content for message in messages if message.role == "system"),
        prompt="\n\n".join(message.content for message in messages if message.role == "user"),
        images=tuple(image for message in messages for image in message.images),
    )


def handed_in(handed: Handed) -> Answered:
    """Return an agent's last message as a reply that can be scored."""
    return Answered(handed.text, False, handed.n_turns, handed.conversation)


def _empty(reply: ChatReply, turns: tuple[Turn, ...]) -> Outcome:
    cut = reply.finish_reason == _LENGTH
    reason = (
        "The reply reached its token limit before it gave an answer, twice."
        if cut
        else "The reply held no text, twice."
    )
    return Outcome(
        status=RowStatus.EMPTY,
        cause=_LENGTH if cut else "empty",
        hard=0.0,
        soft=0.0,
        fail_reason=reason,
        n_turns=_ATTEMPTS,
        conversation=turns,
    )
