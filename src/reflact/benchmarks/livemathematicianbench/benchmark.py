"""The benchmark: data, task, prompts, initial skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from reflact.benchmarks import single_turn
from reflact.benchmarks.checks import repeated_items
from reflact.benchmarks.livemathematicianbench.constant import constant_options, holds, note
from reflact.benchmarks.livemathematicianbench.form import LiveMathFormat
from reflact.benchmarks.livemathematicianbench.options import Options, shuffled
from reflact.benchmarks.livemathematicianbench.rehearsal import RULES, rehearse
from reflact.benchmarks.livemathematicianbench.scoring import score, whole_answer
from reflact.benchmarks.loading import load_split
from reflact.benchmarks.prompts import load_prompt, with_skill
from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.records import Record
from reflact.benchmarks.single_turn import Answered, ask
from reflact.benchmarks.splits import fingerprints
from reflact.config.schema import Config
from reflact.core.errors import DataError
from reflact.core.names import Part
from reflact.core.types import Item, Outcome, Rule
from reflact.harness.agent import Assignment, Handed
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import Message


class LiveMathematicianBench:
    """One chat turn a question; the chosen label is right or wrong."""

    name = "livemathematicianbench"
    version = "1"
    # Train questions are labelled data: which option was right is what an analyst has to explain.
    teacher_sees_gold = True

    def __init__(self, config: Config) -> None:
        """Take what the benchmark needs of the configuration."""
        self.form = LiveMathFormat()
        self._env = config.env
        self._system = load_prompt(self.form.package, "system")
        self._student = load_prompt(self.form.package, "student")

    def load(self) -> Split:
        """Read and check the items; with `env.drop_constant_option` those that hold such an option are left out."""
        split = load_split(self._env, self.form)
        return _without_constant(split) if self._env.drop_constant_option else split

    def check(self, split: Split) -> Sequence[Finding]:
        """Look for a sentence that is right wherever it stands, and for items in two parts."""
        constants = constant_options(item for part in Part for item in split.parts[part])
        shortcuts = [
            Finding(
                "warning",
                "constant_option",
                f"{constant}: a skill can learn to choose it; env.drop_constant_option=true leaves those items out",
            )
            for constant in constants
        ]
        return [*shortcuts, *repeated_items(split)]

    def narrow(self, records: Sequence[Record]) -> tuple[list[Record], Mapping[str, Any]]:
        """Leave out of a source what the configuration asks to leave out; the second value is for the manifest."""
        if not self._env.drop_constant_option:
            return list(records), {}
        constants = constant_options(record.item for record in records)
        kept = [record for record in records if not holds(record.item, constants)]
        return kept, {"left_out": note(constants, {"all": len(records) - len(kept)})}

    def initial_skill(self) -> str:
        """The benchmark's own initial skill."""
        return files(self.form.package).joinpath("initial.md").read_text(encoding="utf-8")

    def prompts(self) -> Mapping[str, str]:
        """No teacher prompt is replaced."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """What shapes prompts and replies."""
        return {
            "use_theorem": self._env.use_theorem,
            "use_sketch": self._env.use_sketch,
            "max_completion_tokens": self._env.max_completion_tokens,
            "prompts": {prompt.name: prompt.record() for prompt in (self._system, self._student)},
        }

    def rules(self) -> Sequence[Rule]:
        """Hidden rules for rehearsals."""
        return RULES

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Ask the question once, once more if no usable text comes, and score the reply."""
        options = shuffled(item, session.seed)
        messages = self.messages(item, options, session.skill)
        answered = await ask(session, messages, lambda reply: whole_answer(reply, options))
        return score(answered, options) if isinstance(answered, Answered) else answered

    def messages(self, item: Item, options: Options, skill: str) -> list[Message]:
        """Return what the student is asked."""
        shown = self._student.fill(question=item.question, background=self._background(item), options=options.listing())
        return [Message("system", with_skill(self._system.text, skill)), Message("user", shown)]

    def _background(self, item: Item) -> str:
        blocks = []
        if self._env.use_theorem and item.data["theorem"]:
            blocks.append(f"\nTheorem of the paper:\n{item.data['theorem']}\n")
        if self._env.use_sketch and item.data["sketch"]:
            blocks.append(f"\nSketch of its proof:\n{item.data['sketch']}\n")
        return "".join(blocks)

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        """Return what an agent gets: the same as a chat turn."""
        return single_turn.assignment(self.messages(item, shuffled(item, seed), skill))

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        """Whether the answer names an option, or at least stands in answer tags."""
        return whole_answer(handed.text, shuffled(item, seed))

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        """Score an agent's last message."""
        return score(single_turn.handed_in(handed), shuffled(item, seed))

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Return a simulated reply."""
        return rehearse(item, correct, seed)


def _without_constant(split: Split) -> Split:
    constants = constant_options(item for part in Part for item in split.parts[part])
    parts = {part: tuple(item for item in split.parts[part] if not holds(item, constants)) for part in Part}
    empty = [part.value for part in Part if not parts[part]]
    if empty:
        raise DataError(
            f"env.drop_constant_option leaves nothing of {', '.join(empty)} in {split.source}; make a split "
            "without those items: `reflact splits make livemathematicianbench --drop-constant-option ...`"
        )
    left_out = {part.value: len(split.parts[part]) - len(parts[part]) for part in Part}
    manifest = {**split.manifest, "left_out": note(constants, left_out)}
    return replace(split, parts=parts, fingerprints=fingerprints(parts), manifest=manifest)
