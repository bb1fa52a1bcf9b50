"""The border between benchmarks and students that are agent programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from reflact.core.types import Item, Outcome, Turn
from reflact.models.protocol import Image


@dataclass(frozen=True, slots=True)
class Assignment:
    """What an agent gets for one item. Nothing in it may hold a gold answer.

    Attributes:
        system: What it is to know before the task, the skill's text included; it stands in the system prompt.
        prompt: The task.
        files: What lies in its workspace, by plain file name.
        images: Images that are attached to the task.
        answer_file: A file that it must leave in its workspace; None if its last message is the answer.
        python: Its shell shall find Python with the packages of this one.
    """

    system: str
    prompt: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    answer_file: str | None = None
    python: bool = False


@dataclass(frozen=True, slots=True)
class Handed:
    """What an agent handed in.

    Attributes:
        text: Its last message; may be blank only where a file was demanded.
        file: The content of the demanded file.
        n_turns: Answers of the model.
        conversation: The task and what the agent did, as far as the teacher may see it.
    """

    text: str
    file: bytes | None
    n_turns: int
    conversation: tuple[Turn, ...]


@runtime_checkable
class AgentTask(Protocol):
    """What a benchmark offers beside `Chat`, so that agent programs can do its items."""

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        """Return what the agent gets; an outcome if the item cannot be done at all."""
        ...

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        """Whether the answer has the form that the task demands; if not, the item is done once more."""
        ...

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        """Score what was handed in."""
        ...
