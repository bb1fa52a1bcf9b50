"""The orders task: one sentence in, one short record out.

It exists so that training can be seen working in minutes: a model of 135 million parameters learns the form of the
record from worked examples in its skill. The initial skill does not say what a record looks like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from reflact.benchmarks.orders.data import SEPARATOR, make_items
from reflact.benchmarks.orders.score import TAG, extract, grade
from reflact.benchmarks.protocol import Finding, Split
from reflact.config.schema import Config
from reflact.core.errors import DataError
from reflact.core.hashing import digest
from reflact.core.names import RowStatus
from reflact.core.types import Item, Outcome, Rule, Turn
from reflact.core.usage import Usage
from reflact.harness.agent import Assignment, Handed
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import ChatReply, Message

PREFILL_CAP = {False: 16, True: 24}
"""Tokens of a prefilled reply, without and with the weekday; the longest records take 10 and 14."""
ASK = f"Reply with the record alone, on one line that begins with `{TAG}`."
"""Closes the user turn of models whose reply cannot be begun for them."""
_RULES = (
    Rule(f"Separate the fields with `{SEPARATOR.strip()}`.", 0.25),
    Rule("Give the fields in this order: quantity, ware, city.", 0.2),
    Rule("Write the quantity in digits.", 0.2, ("words",)),
    Rule("Write one line and nothing around it.", 0.1),
    Rule("Copy the ware as it is written, in the plural.", 0.05),
    Rule("Leave out names and courtesies.", 0.05),
)
_DUE_RULE = Rule("Add the weekday as three capitals.", 0.15)


class Orders:
    """The benchmark `orders`; also its own factory: `Orders(config)`."""

    name = "orders"
    version = "1"
    teacher_sees_gold = True

    def __init__(self, config: Config) -> None:
        # The sample is the small task: these items are our own anyway, so the flag only adds the mark.
        self._size = "small" if config.env.sample else config.env.size
        self._due = config.env.due
        self._sample = config.env.sample
        self._refuse_foreign_data(config)

    @staticmethod
    def _refuse_foreign_data(config: Config) -> None:
        env = config.env
        given = [key for key in ("split_root", "split_dir", "data_root", "image_root") if getattr(env, key)]
        if given:
            raise DataError(f"orders makes its own items: leave env.{given[0]} empty; env.size and env.due choose them")
        if env.split != "2-1-7":
            raise DataError(f"orders has one split: leave env.split at its default instead of {env.split}")

    def load(self) -> Split:
        """Make the items."""
        parts = make_items(self._size, due=self._due)
        return Split(
            name=self._size + ("-due" if self._due else ""),
            source="made by reflact",
            parts=parts,
            fingerprints={
                part: digest([[item.id, item.question, list(item.gold), item.task_type] for item in items])
                for part, items in parts.items()
            },
            sample=self._sample,
        )

    def check(self, split: Split) -> Sequence[Finding]:
        """Nothing in made items is misleading: parts share no word and no record."""
        return ()

    def initial_skill(self) -> str:
        """Name the task without stating the record's form."""
        return files(__package__).joinpath("initial.md").read_text(encoding="utf-8")

    def prompts(self) -> Mapping[str, str]:
        """The general teacher prompts serve."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """What shapes the student's prompt and the score."""
        return {
            "size": self._size,
            "due": self._due,
            "prefill": TAG,
            "prefill_cap": PREFILL_CAP[self._due],
            "ask": digest(ASK),
        }

    def rules(self) -> Sequence[Rule]:
        """What helps a simulated student."""
        return (*_RULES, _DUE_RULE) if self._due else _RULES

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Ask once and score the record."""
        messages = [Message("system", session.skill)] if session.skill.strip() else []
        if session.supports_prefill:
            user = item.question
            reply = await self._prefilled([*messages, Message("user", user)], session)
            said = f"{TAG}{reply.text}"
        else:
            user = f"{item.question}\n\n{ASK}"
            reply = await session.reply([*messages, Message("user", user)])
            said = reply.text
        return _outcome(item, reply, (Turn("user", user), Turn("assistant", said)), said)

    async def _prefilled(self, messages: list[Message], session: ChatSession) -> ChatReply:
        """Get the first line with text of a short reply.

        The reply is stopped at its first line end, which halves its cost. One that begins with a line end is asked
        for again without a stop: the line that counts comes later.
        """
        cap = PREFILL_CAP[self._due]
        reply = await session.reply(messages, prefill=TAG, max_completion_tokens=cap, stop=("\n",))
        if reply.text.strip():
            return reply
        return await session.reply(messages, prefill=TAG, max_completion_tokens=cap)

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        """Return what an agent gets: the same as a chat turn."""
        return Assignment(system=skill, prompt=f"{item.question}\n\n{ASK}")

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        """Whether there is a record; what a record looks like is for the skill to say."""
        return extract(handed.text) is not None

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        """Score an agent's last message."""
        outcome = _outcome(item, ChatReply(handed.text, "stop", Usage()), handed.conversation, handed.text)
        return replace(outcome, n_turns=handed.n_turns)

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Reply with the record, or with what an untaught student would say."""
        fields = item.gold[0].split(SEPARATOR)
        return f"{TAG} {item.gold[0]}" if correct else f"{TAG} {' '.join(fields[:2])} to {fields[2]}"


def _outcome(item: Item, reply: ChatReply, conversation: tuple[Turn, ...], said: str) -> Outcome:
    answer = extract(said)
    cut = reply.finish_reason == "length"
    if answer is None:
        return Outcome(
            status=RowStatus.EMPTY,
            cause="length" if cut else "empty_reply",
            hard=0.0,
            soft=0.0,
            fail_reason="The reply holds no record.",
            n_turns=1,
            conversation=conversation,
        )
    score = grade(answer, item.gold[0])
    return Outcome(
        status=RowStatus.OK,
        hard=score.hard,
        soft=score.soft,
        predicted_answer=answer,
        fail_reason=None if score.hard else f"{score.right} of {score.total} fields are right.",
        n_turns=1,
        truncated=cut,
        conversation=conversation,
    )
