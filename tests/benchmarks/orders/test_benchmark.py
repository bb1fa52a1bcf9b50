from __future__ import annotations

import asyncio

import pytest

from reflact.benchmarks.orders.benchmark import ASK, Orders
from reflact.benchmarks.protocol import Benchmark
from reflact.core.errors import DataError
from reflact.core.names import Part, RowStatus
from reflact.core.types import Outcome
from reflact.testing import BenchmarkConformance, FakeSession, scripted_session

from ..support import cut, make

SKILL = "# Skill\n\nText.\n"


class TestSmall(BenchmarkConformance):
    def make_benchmark(self) -> Benchmark:
        return make("orders")


class TestLargeDue(BenchmarkConformance):
    max_items = 10

    def make_benchmark(self) -> Benchmark:
        return make("orders", size="large", due=True)


def converse(session: FakeSession, **env: bool) -> Outcome:
    benchmark = make("orders", **env)
    return asyncio.run(benchmark.converse(benchmark.load().parts[Part.TEST][0], session))


def gold(**env: bool) -> str:
    return make("orders", **env).load().parts[Part.TEST][0].gold[0]


class TestLayout:
    def test_with_prefill(self) -> None:
        session = scripted_session([f" {gold()}"], skill=SKILL, supports_prefill=True)
        outcome = converse(session)
        (asked,) = session.asked
        assert [message.role for message in asked.messages] == ["system", "user"]
        assert asked.messages[0].content == SKILL
        assert ASK not in asked.text
        assert (asked.prefill, asked.max_completion_tokens, asked.stop) == ("Answer:", 16, ("\n",))
        assert outcome.hard == 1
        assert outcome.conversation[-1].content == f"Answer: {gold()}"

    def test_due_records_are_longer(self) -> None:
        session = scripted_session([gold(due=True)], supports_prefill=True)
        assert converse(session, due=True).hard == 1
        assert session.asked[0].max_completion_tokens == 24

    def test_a_reply_that_begins_with_a_line_end_goes_on(self) -> None:
        session = scripted_session(["", f"\n\n{gold()}"], supports_prefill=True)
        assert converse(session).hard == 1
        assert session.asked[1].stop == ()

    def test_without_prefill_the_prompt_says_where_the_record_goes(self) -> None:
        session = scripted_session([f"Sure.\n\nAnswer: {gold()}"], skill=SKILL)
        outcome = converse(session)
        (asked,) = session.asked
        assert asked.messages[-1].content.endswith(ASK)
        assert (asked.prefill, asked.max_completion_tokens, asked.stop) == (None, None, ())
        assert outcome.hard == 1

    def test_without_a_skill_there_is_no_system_turn(self) -> None:
        session = scripted_session(["x"], skill=" \n")
        converse(session)
        assert [message.role for message in session.asked[0].messages] == ["user"]


class TestOutcomes:
    def test_wrong(self) -> None:
        outcome = converse(scripted_session(["9 | things | Nowhere"]))
        assert (outcome.status, outcome.hard, outcome.soft) == (RowStatus.OK, 0, 0)
        assert outcome.fail_reason == "0 of 3 fields are right."

    def test_cut_with_an_answer(self) -> None:
        outcome = converse(scripted_session([cut(f"{gold()}\nand")]))
        assert (outcome.status, outcome.hard, outcome.truncated) == (RowStatus.OK, 1, True)

    def test_cut_without_an_answer(self) -> None:
        outcome = converse(scripted_session([cut("")]))
        assert (outcome.status, outcome.cause) == (RowStatus.EMPTY, "length")


class TestChoices:
    def test_names(self) -> None:
        assert make("orders").load().name == "small"
        assert make("orders", size="large", due=True).load().name == "large-due"

    def test_the_sample_is_the_small_task_with_a_mark(self) -> None:
        sample, small = make("orders", sample=True, size="large").load(), make("orders").load()
        assert sample.sample
        assert not small.sample
        assert sample.fingerprint == small.fingerprint

    @pytest.mark.parametrize("key", ["split_dir", "split_root", "data_root"])
    def test_data_from_elsewhere_is_refused(self, key: str) -> None:
        with pytest.raises(DataError, match=rf"env\.{key}"):
            make("orders", **{key: "somewhere"})

    def test_another_ratio_is_refused(self) -> None:
        with pytest.raises(DataError, match=r"env\.split"):
            make("orders", split="1-1-8")

    def test_the_initial_skill_does_not_show_the_form(self) -> None:
        skill = make("orders").initial_skill()
        assert "|" not in skill
        assert "Answer" not in skill

    def test_settings_tell_the_variants_apart(self) -> None:
        assert isinstance(make("orders"), Orders)
        assert make("orders").settings() != make("orders", due=True).settings()
