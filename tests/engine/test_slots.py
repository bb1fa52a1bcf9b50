from __future__ import annotations

import asyncio

from reflact.models.slots import BACKGROUND, Slots


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Holders:
    """Tasks that hold slots until they are let go."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.started: list[str] = []
        self.release: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, name: str, priority: int = 0) -> None:
        self.release[name] = asyncio.Event()
        self.tasks[name] = asyncio.ensure_future(self._hold(name, priority))

    async def _hold(self, name: str, priority: int) -> None:
        async with self.slots.hold(priority):
            self.started.append(name)
            await self.release[name].wait()

    async def end(self, name: str) -> None:
        self.release[name].set()
        await self.tasks[name]
        await settle()


def test_never_more_than_the_size_and_in_order_of_priority_then_arrival() -> None:
    async def main() -> None:
        holders = Holders(Slots(2, Clock()))
        for name, priority in [("a", 0), ("b", 0), ("late", 5), ("c", 0), ("d", 0)]:
            holders.begin(name, priority)
        await settle()
        assert holders.started == ["a", "b"]
        for name in ["a", "b", "c", "d"]:
            await holders.end(name)
            assert holders.slots.busy <= 2
        assert holders.started == ["a", "b", "c", "d", "late"]
        await holders.end("late")
        assert holders.slots.busy == 0

    asyncio.run(main())


def test_a_waiter_that_is_cancelled_takes_no_slot() -> None:
    async def main() -> None:
        holders = Holders(Slots(1, Clock()))
        for name in ["a", "b", "c"]:
            holders.begin(name)
        await settle()
        holders.tasks["b"].cancel()
        await settle()
        await holders.end("a")
        assert holders.started == ["a", "c"]
        holders.tasks["c"].cancel()
        await settle()
        assert holders.slots.busy == 0

    asyncio.run(main())


def test_background_work_waits_until_it_fits_before_the_next_demand() -> None:
    async def main() -> None:
        clock = Clock()
        slots = Slots(4, clock)
        holders = Holders(slots)
        holders.begin("first")
        await settle()
        clock.now = 1.0
        await holders.end("first")  # now an item is known to take a second
        holders.begin("background", BACKGROUND)
        await settle()
        assert "background" not in holders.started, "the slots are wanted at once"
        slots.expect(at=clock.now + 0.5)
        await settle()
        assert "background" not in holders.started, "it would still run when the slots are wanted"
        slots.expect(at=clock.now + 1.5)
        await settle()
        assert "background" in holders.started
        await holders.end("background")

    asyncio.run(main())


def test_background_work_never_overtakes_waiting_foreground_work() -> None:
    async def main() -> None:
        clock = Clock()
        slots = Slots(1, clock)
        slots.expect(at=float("inf"))
        holders = Holders(slots)
        holders.begin("one")
        await settle()
        clock.now = 1.0
        holders.begin("background", BACKGROUND)
        holders.begin("two")
        await settle()
        await holders.end("one")
        assert holders.started == ["one", "two"]
        await holders.end("two")
        assert holders.started == ["one", "two", "background"]
        await holders.end("background")

    asyncio.run(main())


def test_a_straggler_leaves_its_idle_neighbours_to_background_work() -> None:
    async def main() -> None:
        clock = Clock()
        slots = Slots(2, clock)
        holders = Holders(slots)
        for name in ["quick", "straggler"]:
            holders.begin(name)
        await settle()
        clock.now = 0.5
        await holders.end("quick")
        clock.now = 0.8
        holders.begin("background", BACKGROUND)
        await settle()
        assert "background" in holders.started, "0.8 s old: expected to take another 0.8 s, and half a second fits"
        await holders.end("background")
        clock.now = 5.0
        holders.begin("next", BACKGROUND)
        await settle()
        assert "next" in holders.started
        for name in ["next", "straggler"]:
            await holders.end(name)

    asyncio.run(main())


def test_who_comes_straight_back_is_not_overtaken_by_lower_priority() -> None:
    async def main() -> None:
        slots = Slots(1, Clock())
        slots.expect(at=float("inf"))
        order: list[str] = []

        async def work(name: str, priority: int, items: int) -> None:
            for _ in range(items):
                async with slots.hold(priority):
                    order.append(name)
                    await asyncio.sleep(0)

        await asyncio.gather(work("first", 0, 3), work("background", BACKGROUND, 3), work("later", 5, 2))
        assert order == ["first"] * 3 + ["later"] * 2 + ["background"] * 3

    asyncio.run(main())


def test_background_work_does_not_take_the_slots_of_a_phase_that_is_about_to_begin() -> None:
    async def main() -> None:
        clock = Clock()
        slots = Slots(3, clock)
        holders = Holders(slots)
        holders.begin("first")
        await settle()
        clock.now = 1.0
        await holders.end("first")
        for name in ["b1", "b2", "b3"]:
            holders.begin(name, BACKGROUND)
        await settle()
        slots.expect(after=10.0)
        await settle()
        assert holders.started == ["first"], "what the demand comes after has not begun"
        for name in ["f1", "f2"]:
            holders.begin(name)
        await settle()
        assert holders.started == ["first", "f1", "f2", "b1"], "the phase first, then what it leaves idle"
        slots.expect(at=float("inf"))
        for name in ["f1", "f2", "b1", "b2", "b3"]:
            await holders.end(name)

    asyncio.run(main())


def test_a_worker_that_goes_on_at_once_keeps_its_slot() -> None:
    async def main() -> None:
        clock = Clock()
        slots = Slots(1, clock)
        order: list[str] = []

        async def work(name: str, priority: int, times: int) -> None:
            for _ in range(times):
                async with slots.hold(priority):
                    order.append(name)
                    await asyncio.sleep(0)

        slots.expect(at=float("inf"))
        await asyncio.gather(work("foreground", 0, 3), work("background", BACKGROUND, 2))
        assert order == ["foreground"] * 3 + ["background"] * 2

    asyncio.run(main())


def test_a_few_long_holds_keep_background_work_away_from_a_demand() -> None:
    async def main() -> None:
        clock = Clock()
        slots = Slots(2, clock)
        holders = Holders(slots)
        for number in range(20):
            holders.begin(f"item {number}")
            await settle()
            clock.now += 3.0 if number % 5 == 0 else 1.0
            await holders.end(f"item {number}")
        assert slots.typical_s == 1.0
        assert slots.long_s == 3.0
        holders.begin("background", BACKGROUND)
        slots.expect(at=clock.now + 2.0)
        await settle()
        assert "background" not in holders.started, "most would end in time, but one in five would be in the way"
        slots.expect(at=clock.now + 3.0)
        await settle()
        assert "background" in holders.started
        await holders.end("background")

    asyncio.run(main())
