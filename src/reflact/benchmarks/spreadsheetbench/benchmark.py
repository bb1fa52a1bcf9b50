"""The benchmark: data, task, prompts, initial skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from reflact.benchmarks.checks import repeated_items
from reflact.benchmarks.loading import load_split, make_split
from reflact.benchmarks.prompts import load_prompt, with_skill
from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.recall import Recall
from reflact.benchmarks.records import Record
from reflact.benchmarks.spreadsheetbench.agent import Desk, script_of
from reflact.benchmarks.spreadsheetbench.checks import confinement_finding, reference_findings
from reflact.benchmarks.spreadsheetbench.dialogue import Dialogue
from reflact.benchmarks.spreadsheetbench.form import SpreadsheetFormat, resolve
from reflact.benchmarks.spreadsheetbench.office import Office, find_office
from reflact.benchmarks.spreadsheetbench.programs import Programs
from reflact.benchmarks.spreadsheetbench.recalled import RecalledWorkshop, program_versions
from reflact.benchmarks.spreadsheetbench.rehearsal import RULES, rehearse
from reflact.benchmarks.spreadsheetbench.workshop import Verdict, Workshop, WorkshopError
from reflact.config.schema import Config
from reflact.confine import Choice, ConfinementError, choose
from reflact.core.errors import DataError
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Json, Outcome, Rule
from reflact.harness.agent import Assignment, Handed
from reflact.harness.protocol import ChatSession
from reflact.models.agent_endpoints import AGENTS
from reflact.models.protocol import Message

_MIB = 1024 * 1024


class SpreadsheetBench:
    """A script a task, run on one to three workbooks whose cells are compared."""

    name = "spreadsheetbench"
    version = "1"
    # A reference is a workbook; the reason of a failure says which cells differ, and that is what can be learned from.
    teacher_sees_gold = False

    def __init__(self, config: Config) -> None:
        """Take what the benchmark needs of the configuration."""
        self.form = SpreadsheetFormat()
        self._env = config.env
        self._system = load_prompt(self.form.package, "system")
        self._student = load_prompt(self.form.package, "student")
        self._feedback = load_prompt(self.form.package, "feedback")
        self._agent = config.model.student_backend in AGENTS
        self._simulated = config.model.student_backend == "rehearsal"
        self._config = config
        self._previews: dict[str, str] = {}
        self._train: frozenset[str] = frozenset()

    def load(self) -> Split:
        """Read the items and resolve the folder of every one."""
        if not self._env.sample and not self._env.data_root:
            raise DataError("env.data_root must name the folder that holds dataset.json and spreadsheet/")
        read = load_split(self._env, self.form)
        everything = [item for part in Part for item in read.parts[part]]
        resolved = {item.id: item for item in resolve(everything, self._root)}
        parts = {part: [resolved[item.id] for item in read.parts[part]] for part in Part}
        self._train = frozenset(item.id for item in parts[Part.TRAIN])
        records = {part: [Record(item, {}, "") for item in items] for part, items in parts.items()}
        fresh = make_split(read.name, read.source, records, sample=read.sample, manifest=read.manifest)
        return replace(fresh, source=read.source)

    def check(self, split: Split) -> Sequence[Finding]:
        """Say whether scripts are confined, and look for items that cannot be scored or stand in two parts."""
        found = confinement_finding(self._choice)
        return [*found, *reference_findings(split, self._workshop), *repeated_items(split)]

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
        """What shapes prompts, replies and scores."""
        env = self._env
        several = env.mode == "multi"
        prompts = (self._system, self._student, *((self._feedback,) if several else ()))
        if self._agent:
            prompts = (self._desk.system, self._desk.task)
        return {
            "mode": env.mode,
            **({"max_turns": env.max_turns, "gold_feedback": env.gold_feedback} if several else {}),
            "code_timeout": env.code_timeout,
            "code_memory_mb": env.code_memory_mb,
            "max_completion_tokens": env.max_completion_tokens,
            "sandbox": self._choice.record,
            "recalculate": self._recalculate,
            "prompts": {prompt.name: prompt.record() for prompt in prompts},
        }

    def rules(self) -> Sequence[Rule]:
        """Hidden rules for rehearsals."""
        return RULES

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Ask for a script, run it, and compare what it made.

        A failure of our own means gives a row without a score, never a wrong answer.
        """
        try:
            messages = await self.messages(item, session.skill)
            if self._env.mode == "single":
                return await self._dialogue.single(item, session, messages)
            graded = self._env.gold_feedback == "train" and item.id in self._train
            return await self._dialogue.several(item, session, messages, graded=graded)
        except (ConfinementError, WorkshopError) as error:
            return self._without_score(error)

    async def messages(self, item: Item, skill: str) -> list[Message]:
        """Return what the student is asked."""
        asked = self._student.fill(**await self._asked(item))
        return [Message("system", with_skill(self._system.text, skill)), Message("user", asked)]

    async def _asked(self, item: Item) -> dict[str, str]:
        """Return what prompts say of an item."""
        if item.id not in self._previews:
            self._previews[item.id] = await self._workshop.preview(item)
        sheet = item.data["answer_sheet"]
        return {
            "instruction": item.question,
            "kind": item.task_type or "not said",
            "position": item.data["answer_position"] + (f" (sheet {sheet})" if sheet else ""),
            "preview": self._previews[item.id],
        }

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        """Return what an agent gets: the first workbook in its folder; the script is a file that it leaves."""
        try:
            return self._desk.assignment(item, with_skill(self._desk.system.text, skill), await self._asked(item))
        except (ConfinementError, WorkshopError) as error:
            return self._without_score(error)

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        """Whether there is a script."""
        return script_of(handed) is not None

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        """Run the script that an agent left on every case."""
        try:
            return await self._dialogue.handed_in(item, script_of(handed), handed)
        except (ConfinementError, WorkshopError) as error:
            return self._without_score(error)

    def _without_score(self, error: Exception) -> Outcome:
        return Outcome(status=RowStatus.ERROR, cause="sandbox", extra={**self._marks, "error": str(error)[:500]})

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Return a simulated reply."""
        return rehearse(item, correct, self._root, several=self._env.mode == "multi")

    @property
    def _root(self) -> Path:
        return Path(str(files(self.form.package).joinpath("sample"))) if self._env.sample else Path(self._env.data_root)

    @property
    def _marks(self) -> dict[str, Json]:
        marks: dict[str, Json] = {"sandbox": self._choice.record}
        if self._env.mode == "multi" and self._env.gold_feedback != "none":
            marks["gold_feedback"] = self._env.gold_feedback
        return marks

    @property
    def _recalculate(self) -> str:
        """Who computes formulas: rows that differ in it are never mixed."""
        if self._env.recalculate == "off":
            return "off"
        return "none" if self._office is None else self._office.record

    @cached_property
    def _choice(self) -> Choice:
        return choose(self._env.sandbox)

    @cached_property
    def _workshop(self) -> Workshop:
        env = self._env
        programs = Programs(self._choice.confinement, env.env_workers, env.code_memory_mb * _MIB)
        place = (programs, self._root.resolve(), env.code_timeout, self._office)
        limits = {"code_timeout": env.code_timeout, "code_memory_mb": env.code_memory_mb}
        means = {"sandbox": self._choice.record, "recalculate": self._recalculate, **program_versions()}
        recall = Recall.of_run(self._config, {**limits, **means})
        return Workshop(*place) if recall is None else RecalledWorkshop(*place, recall=recall)

    @cached_property
    def _office(self) -> Office | None:
        return find_office(self._env.recalculate, self._choice.confinement)

    @cached_property
    def _desk(self) -> Desk:
        package = self.form.package
        return Desk(self._root.resolve(), load_prompt(package, "agent_system"), load_prompt(package, "agent_task"))

    @cached_property
    def _dialogue(self) -> Dialogue:
        known: dict[tuple[str, str], tuple[Verdict, ...]] | None = {} if self._simulated else None
        return Dialogue(self._workshop, self._feedback, self._env.max_turns, self._marks, known)
