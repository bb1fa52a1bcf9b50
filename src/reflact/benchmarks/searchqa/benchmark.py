"""The benchmark: data, task, prompts, initial skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from reflact.benchmarks import single_turn
from reflact.benchmarks.checks import repeated_items
from reflact.benchmarks.loading import load_split
from reflact.benchmarks.prompts import load_prompt, with_skill
from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.records import Record
from reflact.benchmarks.searchqa.checks import answers_out_of_sight, blank_golds
from reflact.benchmarks.searchqa.context import cut_context
from reflact.benchmarks.searchqa.form import SearchQAFormat
from reflact.benchmarks.searchqa.rehearsal import RULES, rehearse
from reflact.benchmarks.searchqa.scoring import score, whole_answer
from reflact.benchmarks.single_turn import Answered, ask
from reflact.config.schema import Config
from reflact.core.types import Item, Outcome, Rule
from reflact.harness.agent import Assignment, Handed
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import Message


class SearchQA:
    """One chat turn a question; exact match and token F1."""

    name = "searchqa"
    version = "1"
    # Train questions are labelled data; without the label an analyst cannot tell a wrong name from a wrong form.
    teacher_sees_gold = True

    def __init__(self, config: Config) -> None:
        """Take what the benchmark needs of the configuration."""
        self.form = SearchQAFormat()
        self._env = config.env
        self._system = load_prompt(self.form.package, "system")
        self._student = load_prompt(self.form.package, "student")

    def load(self) -> Split:
        """Read and check the items."""
        return load_split(self._env, self.form)

    def check(self, split: Split) -> Sequence[Finding]:
        """Look for golds that cannot be matched, answers outside the cut context and items in two parts."""
        limit = self._env.max_context_chars
        return [*blank_golds(split), *answers_out_of_sight(split, limit), *repeated_items(split)]

    def narrow(self, records: Sequence[Record]) -> tuple[list[Record], Mapping[str, Any]]:
        """Take every item of a source."""
        return list(records), {}

    def initial_skill(self) -> str:
        """The benchmark's own initial skill."""
        return files(self.form.package).joinpath("initial.md").read_text(encoding="utf-8")

    def prompts(self) -> Mapping[str, str]:
        """No teacher prompt is replaced."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """What shapes prompts and replies."""
        return {
            "max_context_chars": self._env.max_context_chars,
            "max_completion_tokens": self._env.max_completion_tokens,
            "prompts": {prompt.name: prompt.record() for prompt in (self._system, self._student)},
        }

    def rules(self) -> Sequence[Rule]:
        """Hidden rules for rehearsals."""
        return RULES

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Ask the question once, once more if no usable text comes, and score the reply."""
        answered = await ask(session, self.messages(item, session.skill), whole_answer)
        return score(answered, item.gold) if isinstance(answered, Answered) else answered

    def messages(self, item: Item, skill: str) -> list[Message]:
        """Return what the student is asked."""
        context = cut_context(item.data["context"], self._env.max_context_chars)
        return [
            Message("system", with_skill(self._system.text, skill)),
            Message("user", self._student.fill(context=context, question=item.question)),
        ]

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        """Return what an agent gets: the same as a chat turn."""
        return single_turn.assignment(self.messages(item, skill))

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        """Whether there is an answer in answer tags."""
        return whole_answer(handed.text)

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        """Score an agent's last message."""
        return score(single_turn.handed_in(handed), item.gold)

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Return a simulated reply."""
        return rehearse(item, correct, seed)
