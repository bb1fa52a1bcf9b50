from __future__ import annotations

import asyncio

from reflact.models.turnstile import Turnstile


def test_each_goes_on_to_its_next_request_before_the_next_one_is_let_through() -> None:
    async def main() -> None:
        turnstile = Turnstile()
        seen: list[str] = []

        async def send(name: str) -> None:
            seen.append(f"send {name}")

        async def work(name: str) -> None:
            await turnstile.enter()
            seen.append(f"read {name}")
            # A transport writes a request in a task of its own, one iteration later.
            await asyncio.create_task(send(name))

        await asyncio.gather(*(work(name) for name in "abc"))
        assert seen == ["read a", "send a", "read b", "send b", "read c", "send c"]

    asyncio.run(main())


def test_who_comes_alone_does_not_wait() -> None:
    async def main() -> None:
        turnstile = Turnstile()
        for _ in range(3):
            coroutine = turnstile.enter()
            try:
                coroutine.send(None)
            except StopIteration:
                pass
            else:
                raise AssertionError("it waited")
            await asyncio.sleep(0)

    asyncio.run(main())


def test_one_that_is_cancelled_holds_nobody_up() -> None:
    async def main() -> None:
        turnstile = Turnstile()
        passed: list[int] = []

        async def work(number: int) -> None:
            await turnstile.enter()
            passed.append(number)

        tasks = [asyncio.create_task(work(number)) for number in range(4)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert passed == [0, 3]
        await asyncio.wait_for(turnstile.enter(), 1)

    asyncio.run(main())
