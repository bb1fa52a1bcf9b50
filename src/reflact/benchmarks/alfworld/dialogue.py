"""What the student reads on each turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reflact.benchmarks.alfworld.verbs import COMMANDS, HELP
from reflact.benchmarks.prompts import Prompt, load_prompt, with_skill
from reflact.models.protocol import Message

REMEMBERED = 2
"""Pairs of observation and command that a prompt repeats."""

_BANNER = re.compile(r"\A\s*-=.*?=-\s*")
_TASK = re.compile(r"\s*Your task is to:\s*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The student's prompt files."""

    system: Prompt
    first: Prompt
    later: Prompt

    @classmethod
    def load(cls, package: str) -> Prompts:
        """Read them from a package."""
        return cls(*(load_prompt(package, name) for name in ("system", "first", "later")))

    def records(self) -> dict[str, dict[str, str]]:
        """Return versions and hashes by name."""
        return {prompt.name: prompt.record() for prompt in (self.system, self.first, self.later)}


def split_intro(text: str) -> tuple[str, str]:
    """Return the surroundings and the task of a game's first text; the task is `""` if it names none."""
    body = _BANNER.sub("", text)
    task = _TASK.search(body)
    if task is None:
        return body.strip(), ""
    return body[: task.start()].strip(), task.group(1).strip().removesuffix(".")


def shown_commands(admissible: Sequence[str]) -> str:
    """Return the possible commands, one a line."""
    return "\n".join(command for command in admissible if command != HELP)


@dataclass(slots=True)
class Dialogue:
    """Builds the prompts of one game.

    Attributes:
        prompts: The prompt files.
        skill: The skill's text.
        task: What is to be done.
        past: What was seen and then done, from the first turn on.
    """

    prompts: Prompts
    skill: str
    task: str
    past: list[tuple[str, str]] = field(default_factory=list)

    def messages(self, observation: str, admissible: Sequence[str]) -> list[Message]:
        """Return the next request: the task, the last steps, what is seen now and what is possible."""
        commands = "\n".join(f"- {form}" for form in COMMANDS)
        system = with_skill(self.prompts.system.fill(commands=commands), self.skill)
        values = {"task": self.task, "observation": observation, "admissible": shown_commands(admissible)}
        if not self.past:
            user = self.prompts.first.fill(**values)
        else:
            user = self.prompts.later.fill(**values, steps=str(len(self.past)), history=self._history())
        return [Message("system", system), Message("user", user)]

    def _history(self) -> str:
        first = max(0, len(self.past) - REMEMBERED)
        return "\n\n".join(
            f"Step {number}\nYou saw: {seen}\nYou did: {done}"
            for number, (seen, done) in enumerate(self.past[first:], start=first + 1)
        )
