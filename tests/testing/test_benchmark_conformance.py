"""The conformance class passes a sound benchmark and finds each fault of a broken one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.protocol import Finding, Rule, Split
from reflact.core.hashing import digest
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Outcome
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import CallError, Message
from reflact.testing import BenchmarkConformance

from .capitals import Capitals, write_data


class TestCapitals(BenchmarkConformance):
    @pytest.fixture(autouse=True)
    def _data(self, tmp_path: Path) -> None:
        self.path = write_data(tmp_path)

    def make_benchmark(self) -> Capitals:
        return Capitals(self.path)

    def make_moved_benchmark(self, folder: Path) -> Capitals:
        (folder / "moved").mkdir()
        return Capitals(write_data(folder / "moved"))


class SharesAnItem(Capitals):
    def load(self) -> Split:
        split = super().load()
        return replace(split, parts={**split.parts, Part.TEST: split.parts[Part.TRAIN]})


class HasAnEmptyPart(Capitals):
    def load(self) -> Split:
        split = super().load()
        return replace(split, parts={**split.parts, Part.VAL: ()})


class FingerprintsThePath(Capitals):
    def load(self) -> Split:
        split = super().load()
        return replace(split, fingerprints={part: digest([part, str(self._path)]) for part in Part})


class FindsAnError(Capitals):
    def check(self, split: Split) -> Sequence[Finding]:
        return (Finding("error", "broken", "broken"),)


class HasNoVersion(Capitals):
    version = ""


class HasSettingsOfTheMoment(Capitals):
    def settings(self) -> Mapping[str, Any]:
        return {"id": id(self)}


class HasNoHeading(Capitals):
    def initial_skill(self) -> str:
        return "Answer."


class GivesTheRulesAway(Capitals):
    def rules(self) -> Sequence[Rule]:
        return (Rule("Answer the question.", 0.1),)


class RehearsesWrongly(Capitals):
    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        return super().rehearse(item, not correct, seed)


class SaysTheGold(Capitals):
    def reason(self, item: Item, answer: str | None) -> str:
        return f"Wanted {item.gold[0]}."


class SaysNothing(Capitals):
    def reason(self, item: Item, answer: str | None) -> str:
        return ""


class CallsEmptinessWrong(Capitals):
    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        return replace(await super().converse(item, session), status=RowStatus.OK)


class BreaksOnJunk(Capitals):
    def reason(self, item: Item, answer: str | None) -> str:
        return f"{answer[:3]} is not right."  # type: ignore[index]


class SwallowsFailures(Capitals):
    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        try:
            return await super().converse(item, session)
        except CallError:
            return Outcome(RowStatus.OK, None, 0.0, 0.0, fail_reason="No answer.")


class ForgetsTheSkill(Capitals):
    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        class Deaf:
            skill, seed, supports_prefill = "", session.seed, False

            async def reply(self, messages: list[Message], **more: Any) -> Any:
                return await session.reply(messages, **more)

        return await super().converse(item, Deaf())


class RemembersItems(Capitals):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._seen = 0

    def reason(self, item: Item, answer: str | None) -> str:
        self._seen += 1
        return f"Not right, for the {self._seen}. time."


Check = Callable[[BenchmarkConformance, Any, Split, Path], None]
BROKEN: list[tuple[type[Capitals], Check]] = [
    (SharesAnItem, lambda c, b, s, p: c.test_every_part_holds_items_of_its_own(s)),
    (HasAnEmptyPart, lambda c, b, s, p: c.test_every_part_holds_items_of_its_own(s)),
    (FingerprintsThePath, lambda c, b, s, p: c.test_fingerprints_are_those_of_the_content(s, p)),
    (FindsAnError, lambda c, b, s, p: c.test_checks_give_findings(b, s)),
    (HasNoVersion, lambda c, b, s, p: c.test_names_itself(b)),
    (HasSettingsOfTheMoment, lambda c, b, s, p: c.test_names_itself(b)),
    (HasNoHeading, lambda c, b, s, p: c.test_has_an_initial_skill(b)),
    (GivesTheRulesAway, lambda c, b, s, p: c.test_initial_skill_gives_nothing_away(b)),
    (RehearsesWrongly, lambda c, b, s, p: c.test_right_replies_score_one(b, s, 42, False)),
    (RehearsesWrongly, lambda c, b, s, p: c.test_wrong_replies_score_zero(b, s, 42)),
    (SaysTheGold, lambda c, b, s, p: c.test_wrong_replies_score_zero(b, s, 42)),
    (SaysNothing, lambda c, b, s, p: c.test_wrong_replies_score_zero(b, s, 42)),
    (CallsEmptinessWrong, lambda c, b, s, p: c.test_an_empty_reply_is_empty(b, s, "", "stop")),
    (BreaksOnJunk, lambda c, b, s, p: c.test_junk_is_scored(b, s, "null")),
    (SwallowsFailures, lambda c, b, s, p: c.test_a_failed_call_is_left_to_the_harness(b, s)),
    (ForgetsTheSkill, lambda c, b, s, p: c.test_the_student_reads_the_skill(b, s)),
    (RemembersItems, lambda c, b, s, p: c.test_the_same_reply_gives_the_same_outcome(b, s)),
]


@pytest.mark.parametrize(("kind", "check"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_benchmark_is_found_out(kind: type[Capitals], check: Check, tmp_path: Path) -> None:
    path = write_data(tmp_path)

    class Conformance(BenchmarkConformance):
        def make_benchmark(self) -> Capitals:
            return kind(path)

        def make_moved_benchmark(self, folder: Path) -> Capitals:
            (folder / "moved").mkdir()
            return kind(write_data(folder / "moved"))

    benchmark = kind(path)
    split = benchmark.load()
    with pytest.raises((AssertionError, TypeError, pytest.fail.Exception)):
        check(Conformance(), benchmark, split, tmp_path)
