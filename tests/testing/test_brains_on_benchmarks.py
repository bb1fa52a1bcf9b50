"""A brain does the shipped benchmarks' own prompts: what it means to be right is scored right, and the rest wrong."""

from __future__ import annotations

import asyncio

import pytest

from reflact.benchmarks.livemathematicianbench import LiveMathematicianBench
from reflact.benchmarks.orders import Orders
from reflact.benchmarks.protocol import Benchmark
from reflact.benchmarks.searchqa import SearchQA
from reflact.config.schema import Config
from reflact.models.protocol import Message
from reflact.testing import Brain, FakeSession, SeenMessage, SeenRequest, Wire


def share_right(benchmark: Benchmark, brain: Brain, skill: str) -> float:
    def answer(messages: list[Message]) -> str:
        flat = tuple(SeenMessage(message.role, message.content) for message in messages)
        return brain(SeenRequest(1, Wire.CHAT, "POST", "/v1/chat/completions", messages=flat)).text

    items = [item for part in benchmark.load().parts.values() for item in part]
    sessions = [FakeSession(answer, skill, seed) for seed in (42, 7)]
    outcomes = [asyncio.run(benchmark.converse(item, session)) for item in items for session in sessions]
    return sum(outcome.hard or 0.0 for outcome in outcomes) / len(outcomes)


@pytest.mark.parametrize("kind", [Orders, SearchQA, LiveMathematicianBench])
def test_right_is_right_and_wrong_is_wrong(kind: type[Orders | SearchQA | LiveMathematicianBench]) -> None:
    config = Config()
    config.env.sample = True
    benchmark = kind(config)
    skill = benchmark.initial_skill()
    assert share_right(benchmark, Brain.for_benchmark(benchmark, base=1.0), skill) == 1.0
    assert share_right(benchmark, Brain.for_benchmark(benchmark, base=0.0), skill) == 0.0
    rules = "\n".join(rule.text for rule in benchmark.rules())
    plain = Brain.for_benchmark(benchmark, base=0.2, noisy=False)
    assert share_right(benchmark, plain, f"{skill}\n{rules}") > share_right(benchmark, plain, skill)
