"""The two ways of doing an item: one reply, or several with errors fed back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflact.benchmarks.prompts import Prompt
from reflact.benchmarks.single_turn import Answered, ask
from reflact.benchmarks.spreadsheetbench.code import extract, has_whole_script
from reflact.benchmarks.spreadsheetbench.form import cases_of
from reflact.benchmarks.spreadsheetbench.outcomes import outcome_of
from reflact.benchmarks.spreadsheetbench.workshop import Ran, Verdict, Workshop
from reflact.core.types import Item, Json, Outcome, Turn
from reflact.harness.agent import Handed
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import Message

_NO_SCRIPT = "The reply held no complete Python script."
_LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Does items.

    Attributes:
        workshop: Runs and judges scripts.
        feedback: What the student is told after an error.
        max_turns: Most replies of a conversation.
        marks: What every row says.
        known: Verdicts by item and script. A simulated student says the same few things again and again, and they need
            not be run each time; a real student's scripts always are, and then it is None.
    """

    workshop: Workshop
    feedback: Prompt
    max_turns: int
    marks: Mapping[str, Json]
    known: dict[tuple[str, str], tuple[Verdict, ...]] | None = None

    async def single(self, item: Item, session: ChatSession, messages: list[Message]) -> Outcome:
        """Ask for one reply and run its script on every case."""
        answered = await ask(session, messages, has_whole_script)
        if not isinstance(answered, Answered):
            return answered
        script = extract(answered.text)
        verdicts = () if script is None else await self._verdicts(item, script.text, None)
        return outcome_of(
            verdicts,
            script=None if script is None else script.text,
            turns=answered.conversation,
            n_turns=answered.n_turns,
            truncated=answered.truncated,
            marks=self.marks,
        )

    async def several(self, item: Item, session: ChatSession, messages: list[Message], *, graded: bool) -> Outcome:
        """Ask until a script runs on the first case; the last script is judged on every case.

        Args:
            item: The item.
            session: The student.
            messages: The conversation so far; grows.
            graded: Also tell the student when the first case is not right, and ask on.
        """
        turns = [Turn(message.role, message.content) for message in messages if message.role != "system"]
        script: str | None = None
        first: Ran | None = None
        no_action = n_turns = 0
        while n_turns < self.max_turns:
            reply = await session.reply(list(messages))
            n_turns += 1
            turns.append(Turn("assistant", reply.text))
            found = extract(reply.text)
            if found is None or (reply.finish_reason == _LENGTH and not found.whole):
                no_action += 1
                problem = _NO_SCRIPT
            else:
                script = found.text
                first = await self.workshop.run(item, cases_of(item)[0], script)
                problem = first.problem or (await self._grade(item, first) if graded else "")
            if not problem:
                break
            if n_turns < self.max_turns:
                told = self.feedback.fill(problem=problem)
                # Some services refuse a message without text.
                messages += [Message("assistant", reply.text or "(no text)"), Message("user", told)]
                turns.append(Turn("user", told))
        verdicts = () if script is None else await self._verdicts(item, script, first)
        return outcome_of(verdicts, script=script, turns=turns, n_turns=n_turns, no_action=no_action, marks=self.marks)

    async def handed_in(self, item: Item, script: str | None, handed: Handed) -> Outcome:
        """Run a script that an agent left on every case."""
        verdicts = () if script is None else await self._verdicts(item, script, None)
        return outcome_of(verdicts, script=script, turns=handed.conversation, n_turns=handed.n_turns, marks=self.marks)

    async def _verdicts(self, item: Item, script: str, first: Ran | None) -> tuple[Verdict, ...]:
        """Run a script on the cases that it has not been run on, and judge all."""
        if self.known is not None and (item.id, script) in self.known:
            return self.known[item.id, script]
        runs = [] if first is None else [first]
        for case in cases_of(item)[len(runs) :]:
            runs.append(await self.workshop.run(item, case, script))
        verdicts = await self.workshop.judge(item, runs)
        if self.known is not None:
            self.known[item.id, script] = verdicts
        return verdicts

    async def _grade(self, item: Item, first: Ran) -> str:
        (verdict,) = await self.workshop.judge(item, [first])
        return (
            "" if verdict.passed or not verdict.counts else f"The script ran, but its result is wrong. {verdict.reason}"
        )
