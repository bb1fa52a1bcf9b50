"""A server that counts no tokens: a budget must hold there too, and the numbers say what they are."""

from __future__ import annotations

import asyncio

import pytest

from reflact.config.operation import BudgetConfig
from reflact.core.errors import Stopped
from reflact.core.usage import Usage
from reflact.models.estimates import with_estimates
from reflact.models.protocol import ChatRequest, Image, Message

from .support import Bench, reply, request

UNCOUNTED = Usage(calls=1)
ASKED = ChatRequest((Message("system", "a" * 40), Message("user", "é" * 10)), 100, 30.0)


def test_texts_are_counted_in_bytes() -> None:
    assert with_estimates(ASKED, reply("twelve bytes", UNCOUNTED)).usage == Usage(1, 0, 15, 0, 3, 0, 18)


def test_an_image_counts_too() -> None:
    asked = ChatRequest((Message("user", "look", (Image("image/png", b"x"),)),), 10, 30.0)
    assert with_estimates(asked, reply("", UNCOUNTED)).usage.prompt_tokens == 1001


def test_what_was_counted_stays() -> None:
    told = Usage(calls=1, prompt_tokens=50, cached_tokens=7)
    assert with_estimates(ASKED, reply("fine", told)).usage == Usage(1, 0, 50, 7, 1, 0, 1)


def test_an_empty_reply_of_a_server_that_counts_is_not_estimated() -> None:
    told = reply("", Usage(calls=1, prompt_tokens=50))
    assert with_estimates(ASKED, told) is told


def test_it_is_told_once_and_booked() -> None:
    bench = Bench([reply("fine", UNCOUNTED)])

    async def twice() -> None:
        await bench.ask()
        await bench.ask()

    asyncio.run(twice())
    (warned,) = bench.of_kind("warning")
    assert warned.code == "usage_estimated" and "m1 at http://h/v1" in warned.message
    assert bench.meter.total == Usage(2, 0, 4, 0, 2, 0, 6)
    assert [event.usage.estimated_tokens for event in bench.of_kind("call")] == [3, 3]


def test_a_budget_holds() -> None:
    bench = Bench([reply("x" * 400, UNCOUNTED)], budget=BudgetConfig(max_tokens=150))

    async def spend() -> None:
        for _ in range(10):
            await bench.ask(request=request("y" * 40))

    with pytest.raises(Stopped, match=r"budget\.max_tokens=150"):
        asyncio.run(spend())
    assert len(bench.model.requests) == 2
