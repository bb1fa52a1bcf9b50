from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.core.types import Rule
from reflact.models.chance import chance
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure, Message, Simulation
from reflact.models.rehearsal import BASE, RehearsalModel, connect, held_rules, skill_key, success_probability
from reflact.testing import ChatModelConformance

RULES = (Rule("Write digits.", 0.3, ("words",)), Rule("One line.", 0.2))
SKILL = "# Skill\n\n- One line.\n"
EMPTY_BLOCK = "<!-- reflact:slow-update:start -->\n<!-- reflact:slow-update:end -->"


class TestConformance(ChatModelConformance):
    def make_model(self) -> ChatModel:
        return connect(Config(), Role.STUDENT)


def model(**settings: Any) -> RehearsalModel:
    config = Config()
    for key, value in settings.items():
        assert hasattr(config.rehearsal, key)
        setattr(config.rehearsal, key, value)
    return connect(config, Role.STUDENT)


def request(item: str = "a", skill: str = SKILL, repeat: int = 0, **more: Any) -> ChatRequest:
    simulation = Simulation(item, repeat, skill, lambda right: "right" if right else "wrong", "words", RULES)
    return ChatRequest((Message("user", f"do {item}"),), 64, more.pop("timeout_s", 30.0), simulation=simulation)


def said(own: RehearsalModel, *requests: ChatRequest) -> list[str]:
    async def ask() -> list[ChatReply]:
        return await asyncio.gather(*(own.complete(one) for one in requests))

    return [reply.text for reply in asyncio.run(ask())]


def items(n: int, skill: str = SKILL, repeat: int = 0) -> list[ChatRequest]:
    return [request(f"item {i}", skill, repeat) for i in range(n)]


class TestChance:
    def test_is_a_function_of_its_key(self) -> None:
        assert chance(1, "a") == chance(1, "a")
        assert len({chance(1, "a"), chance(2, "a"), chance(1, "b"), chance("1", "a")}) == 4

    def test_is_spread_evenly(self) -> None:
        draws = [chance("spread", n) for n in range(4000)]
        assert all(0 <= draw < 1 for draw in draws)
        assert abs(sum(draws) / len(draws) - 0.5) < 0.02
        tenths = Counter(int(draw * 10) for draw in draws)
        assert min(tenths.values()) > 320


class TestProbability:
    def test_rules_help_the_items_that_they_concern(self) -> None:
        assert held_rules("Write digits. One line.", RULES, "digits") == RULES[1:]
        assert success_probability("", RULES, "words") == BASE
        assert success_probability("Write digits. One line.", RULES, "words") == pytest.approx(BASE + 0.5)

    def test_nothing_is_certain(self) -> None:
        assert success_probability("x", (Rule("x", 5.0),), "") == 0.95
        assert success_probability("x", (Rule("x", -5.0),), "") == 0.02


class TestStudent:
    def test_success_is_as_likely_as_the_rules_say(self) -> None:
        for skill in ("# Skill", SKILL, SKILL + "- Write digits.\n"):
            right = said(model(), *items(1500, skill)).count("right") / 1500
            assert right == pytest.approx(success_probability(skill, RULES, "words"), abs=0.04)

    def test_order_and_company_change_nothing(self) -> None:
        together = said(model(), *items(40))
        backwards = said(model(), *reversed(items(40)))
        alone = [said(model(), one)[0] for one in items(40)]
        assert together == backwards[::-1] == alone

    def test_another_skill_repeat_or_seed_draws_anew(self) -> None:
        usual = said(model(), *items(60))
        assert said(model(), *items(60, SKILL + "- Nothing that helps.\n")) != usual
        assert said(model(), *items(60, repeat=1)) != usual
        assert said(model(seed=1), *items(60)) != usual

    def test_an_empty_protected_block_draws_nothing_anew(self) -> None:
        assert skill_key(f"{SKILL}\n{EMPTY_BLOCK}\n") == skill_key(SKILL)
        assert skill_key(f"{SKILL}\n{EMPTY_BLOCK}\n- More.\n") != skill_key(SKILL)
        assert said(model(), *items(60, f"{SKILL}\n{EMPTY_BLOCK}\n")) == said(model(), *items(60))

    def test_everything_is_marked(self) -> None:
        assert model().info.simulated
        assert connect(Config(), Role.TEACHER).info.simulated

    def test_tokens_follow_lengths(self) -> None:
        (reply,) = asyncio.run(_complete(model(), ChatRequest((Message("user", "x" * 400),), 64, 30.0)))
        assert (reply.usage.calls, reply.usage.prompt_tokens) == (1, 100)


class TestTrouble:
    @pytest.mark.parametrize(
        ("key", "failure", "status"),
        [("rate_limit_rate", Failure.RATE_LIMIT, 429), ("server_error_rate", Failure.SERVER, 500)],
    )
    def test_failures_come_at_their_rate_and_pass(self, key: str, failure: Failure, status: int) -> None:
        own = model(**{key: 0.3})
        failed = Counter[str]()
        for one in items(400):
            failed[one.messages[0].content] = _attempts(own, one, failure, status)
        share = sum(count > 0 for count in failed.values()) / 400
        assert share == pytest.approx(0.3, abs=0.07)
        assert 1 < max(failed.values()) < 12

    def test_trouble_does_not_change_the_reply(self) -> None:
        troubled = model(rate_limit_rate=0.4)
        replies = []
        for one in items(50):
            _attempts(troubled, one, Failure.RATE_LIMIT, 429, replies)
        assert replies == said(model(), *items(50))

    def test_nothing_is_kept_of_calls_that_ended(self) -> None:
        own = model(rate_limit_rate=0.4)
        for one in items(50):
            _attempts(own, one, Failure.RATE_LIMIT, 429)
        assert not own._attempts

    def test_an_empty_reply_is_followed_by_another_draw(self) -> None:
        own = model(empty_rate=0.5)
        first, second = said(own, *items(200)), said(own, *items(200))
        assert first.count("") == pytest.approx(100, abs=25)
        assert sum(not a and not b for a, b in zip(first, second, strict=True)) < first.count("")

    def test_a_call_that_would_take_too_long_gets_no_answer(self) -> None:
        with pytest.raises(CallError) as caught:
            said(model(latency_s=5.0), request(timeout_s=0.01))
        assert caught.value.failure is Failure.NO_ANSWER


async def _complete(own: RehearsalModel, *requests: ChatRequest) -> list[ChatReply]:
    return [await own.complete(one) for one in requests]


def _attempts(
    own: RehearsalModel, one: ChatRequest, failure: Failure, status: int, replies: list[str] | None = None
) -> int:
    """Ask until there is an answer; return how often there was none."""
    failed = 0
    while True:
        try:
            (reply,) = asyncio.run(_complete(own, one))
        except CallError as error:
            assert (error.failure, error.status) == (failure, status)
            failed += 1
        else:
            if replies is not None:
                replies.append(reply.text)
            return failed
