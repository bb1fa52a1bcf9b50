"""What every benchmark must keep: sound data, and scores that mean something."""

from __future__ import annotations

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflact.benchmarks.protocol import Benchmark, Closing, Finding, Split
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Outcome
from reflact.core.usage import Usage
from reflact.models.protocol import CallError, ChatReply, Failure
from reflact.testing.sessions import FakeSession, Said, rehearsing_session, scripted_session

_SEEDS = (42, 7)
_LIMIT_S = 120.0
_JUNK = ("{}", "null", "<answer>", "</answer><answer>", "```", "\x00\ufffd", "ünïcode ✓", "word " * 5_000)


class BenchmarkConformance(ABC):
    """Inherit this for a benchmark.

    class TestMine(BenchmarkConformance):
        def make_benchmark(self):
            return MyBenchmark(compose(["benchmark=mine"]))
    """

    multi_turn = False
    """Replies without an action are turns of an `ok` row and counted as `no_action`, not `empty` rows."""
    max_items = 40
    """Most items of a part that are done in each test, taken at even distances."""

    @abstractmethod
    def make_benchmark(self) -> Benchmark:
        """Return a new benchmark with loadable data."""

    def make_moved_benchmark(self, folder: Path) -> Benchmark | None:
        """Return a benchmark that reads a copy of the same data in `folder`; None if it reads no files."""
        return None

    @pytest.fixture
    def benchmark(self) -> Iterator[Benchmark]:
        """The benchmark under test."""
        benchmark = self.make_benchmark()
        yield benchmark
        if isinstance(benchmark, Closing):
            asyncio.run(benchmark.aclose())

    @pytest.fixture
    def split(self, benchmark: Benchmark) -> Split:
        """Its items."""
        return benchmark.load()

    # Data

    def test_every_part_holds_items_of_its_own(self, split: Split) -> None:
        """No part is empty, ids are unique within the split, and so no item is in two parts."""
        assert all(split.parts[part] for part in Part)
        counts = Counter(item.id for part in Part for item in split.parts[part])
        assert not [id_ for id_, count in counts.items() if count > 1]
        assert "" not in counts

    def test_items_can_be_recorded(self, split: Split) -> None:
        """Items are JSON-like and have a question to show."""
        for item in self.some(split):
            json.dumps([item.id, item.question, list(item.gold), item.task_type, dict(item.data)])
            assert item.question.strip()

    def test_fingerprints_are_those_of_the_content(self, split: Split, tmp_path: Path) -> None:
        """Loading again, or from another place, gives the same items and fingerprints."""
        others = [self.make_benchmark(), self.make_moved_benchmark(tmp_path)]
        for other in filter(None, others):
            again = other.load()
            assert dict(again.fingerprints) == dict(split.fingerprints)
            assert again.fingerprint == split.fingerprint
            assert [item.id for item in again.parts[Part.TRAIN]] == [item.id for item in split.parts[Part.TRAIN]]
        assert set(split.fingerprints) == set(Part)

    def test_checks_give_findings(self, benchmark: Benchmark, split: Split) -> None:
        """The data check works on the benchmark's own data and finds no error there."""
        findings = list(benchmark.check(split))
        assert all(isinstance(finding, Finding) for finding in findings)
        assert not [finding for finding in findings if finding.level == "error"]

    # What is recorded and shown

    def test_names_itself(self, benchmark: Benchmark) -> None:
        """Name, version and settings go into every evaluation's key."""
        assert benchmark.name.strip()
        assert isinstance(benchmark.version, str)
        assert benchmark.version.strip()
        assert isinstance(benchmark.teacher_sees_gold, bool)
        assert json.dumps(dict(benchmark.settings())) == json.dumps(dict(self.make_benchmark().settings()))

    def test_has_an_initial_skill(self, benchmark: Benchmark) -> None:
        """The initial skill is Markdown with a heading."""
        skill = benchmark.initial_skill()
        assert re.search(r"^#{1,3} \S", skill, re.MULTILINE), "no heading"

    def test_initial_skill_gives_nothing_away(self, benchmark: Benchmark) -> None:
        """Hidden rules of rehearsals are not in the skill from the start, or rehearsals could not improve it."""
        skill = benchmark.initial_skill()
        assert not [rule.text for rule in benchmark.rules() if rule.text in skill]
        assert all(isinstance(text, str) and text.strip() for text in benchmark.prompts().values())

    # Scores

    @pytest.mark.parametrize("prefill", [False, True], ids=["plain", "prefill"])
    @pytest.mark.parametrize("seed", _SEEDS)
    def test_right_replies_score_one(self, benchmark: Benchmark, split: Split, seed: int, prefill: bool) -> None:
        """A perfect reply passes extraction and scoring in full."""
        for item, outcome in self.rehearse(benchmark, split, True, seed, prefill):
            assert (outcome.status, outcome.hard, outcome.soft) == (RowStatus.OK, 1.0, 1.0), item.id
            assert outcome.fail_reason is None, item.id

    @pytest.mark.parametrize("seed", _SEEDS)
    def test_wrong_replies_score_zero(self, benchmark: Benchmark, split: Split, seed: int) -> None:
        """A wrong reply fails, and says why in words that a teacher may read."""
        for item, outcome in self.rehearse(benchmark, split, False, seed):
            assert outcome.hard == 0.0, item.id
            check_outcome(item, outcome)

    @pytest.mark.parametrize("said", ["", " \n\t"], ids=["nothing", "blanks"])
    @pytest.mark.parametrize("finish_reason", ["stop", "length"])
    def test_an_empty_reply_is_empty(self, benchmark: Benchmark, split: Split, said: str, finish_reason: str) -> None:
        """No text is a scored row of its own status, with a cause, never an error and never a wrong answer.

        With several turns, one turn without text says nothing of the row: such turns are counted.
        """
        for item in self.some(split, 3):
            reply = ChatReply(said, finish_reason, Usage(calls=1))
            outcome = self.converse(benchmark, item, scripted_session([reply]))
            if self.multi_turn:
                assert (outcome.status, outcome.no_action) == (RowStatus.OK, outcome.n_turns)
            else:
                assert outcome.status is RowStatus.EMPTY
                assert outcome.cause
            assert outcome.hard == 0.0
            check_outcome(item, outcome)

    @pytest.mark.parametrize("said", _JUNK, ids=range(len(_JUNK)))
    def test_junk_is_scored(self, benchmark: Benchmark, split: Split, said: str) -> None:
        """Whatever a student says, the item ends with a score."""
        for item in self.some(split, 3):
            check_outcome(item, self.converse(benchmark, item, scripted_session([said])))

    def test_the_same_reply_gives_the_same_outcome(self, benchmark: Benchmark, split: Split) -> None:
        """Scoring has no memory and no chance in it, also with many items at once."""
        alone = [outcome for _, outcome in self.rehearse(benchmark, split, False, 42)]
        items = self.some(split)

        async def at_once() -> list[Outcome]:
            sessions = [rehearsing_session(benchmark, item, False) for item in items]
            return await asyncio.gather(
                *(benchmark.converse(item, session) for item, session in zip(items, sessions, strict=True))
            )

        assert asyncio.run(at_once()) == alone

    def test_a_failed_call_is_left_to_the_harness(self, benchmark: Benchmark, split: Split) -> None:
        """A benchmark never turns a failure of the service into a score."""
        failure: Said = CallError(Failure.SERVER, "scripted")
        for item in self.some(split, 1):
            with pytest.raises(CallError):
                self.converse(benchmark, item, scripted_session([failure]))

    def test_the_student_reads_the_skill(self, benchmark: Benchmark, split: Split) -> None:
        """The skill's text is in the first request, and hidden rules that it does not hold are not."""
        marker = "Marker line of a skill, 7f3a."
        for item in self.some(split, 3):
            session = rehearsing_session(benchmark, item, False, skill=f"# Skill\n\n- {marker}\n")
            self.converse(benchmark, item, session)
            assert marker in session.asked[0].text
            assert not [rule.text for rule in benchmark.rules() if rule.text in session.asked[0].text]

    # Helpers

    def some(self, split: Split, n: int | None = None) -> list[Item]:
        """Return up to `n` (or `max_items`) items of every part, at even distances."""
        most = n or self.max_items
        return [item for part in Part for item in split.parts[part][:: max(1, len(split.parts[part]) // most)][:most]]

    def converse(self, benchmark: Benchmark, item: Item, session: FakeSession) -> Outcome:
        """Do one item."""

        async def within_limit() -> Outcome:
            return await asyncio.wait_for(benchmark.converse(item, session), _LIMIT_S)

        return asyncio.run(within_limit())

    def rehearse(
        self, benchmark: Benchmark, split: Split, correct: bool, seed: int, prefill: bool = False
    ) -> list[tuple[Item, Outcome]]:
        """Do items with a student that is always right, or always wrong."""

        async def all_items() -> list[tuple[Item, Outcome]]:
            done = []
            for item in self.some(split):
                session = rehearsing_session(benchmark, item, correct, seed=seed, supports_prefill=prefill)
                done.append((item, await asyncio.wait_for(benchmark.converse(item, session), _LIMIT_S)))
            return done

        return asyncio.run(all_items())


def check_outcome(item: Item, outcome: Outcome) -> None:
    """Check what must hold of every outcome that a student's own reply led to."""
    assert outcome.status is not RowStatus.ERROR
    assert outcome.hard is not None
    assert outcome.soft is not None
    assert 0.0 <= outcome.hard <= 1.0
    assert 0.0 <= outcome.soft <= 1.0
    json.dumps([outcome.predicted_answer, dict(outcome.extra), [turn.content for turn in outcome.conversation]])
    if outcome.hard < 1.0:
        assert outcome.fail_reason, f"{item.id}: no reason for a hard score of {outcome.hard}"
        leaked = [gold for gold in item.gold if leaks(outcome.fail_reason, gold, outcome.predicted_answer)]
        assert not leaked, f"{item.id}: the reason gives the gold away"


def leaks(reason: str, gold: str, predicted: str | None) -> bool:
    """Whether a reason holds a gold answer as words of its own, and not because the student said it.

    A single letter or digit is too likely to stand in any sentence to tell anything.
    """
    if len(gold.strip()) < 2 or (predicted is not None and gold in predicted):
        return False
    return re.search(rf"(?<!\w){re.escape(gold.strip())}(?!\w)", reason) is not None
