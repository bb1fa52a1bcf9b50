"""Limits that hold for several processes: real ones, with the real client, against a server that counts."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .limit_server import serve
from .limit_worker import work

# Processes are forked off one that has loaded the client, which takes longer than all that they do.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([serve.__module__, work.__module__])


class Child:
    """A process and the line to it."""

    def __init__(self, stack: ExitStack, target: Callable[..., None], *arguments: object) -> None:
        self.line, other = PROCESSES.Pipe()
        self.process = PROCESSES.Process(target=target, args=(other, *arguments), daemon=True)
        self.process.start()
        other.close()
        stack.callback(self._end)

    def hear(self) -> Any:
        assert self.line.poll(30), "nothing is heard of a process"
        return self.line.recv()

    def _end(self) -> None:
        self.process.kill()
        self.process.join()
        self.line.close()


class Machine:
    """A server and the processes that call it."""

    def __init__(self, stack: ExitStack, cache: Path) -> None:
        self._stack = stack
        self.cache = cache
        self._server: Child | None = None
        self._url = ""

    def serve(self, latency_s: float) -> None:
        self._server = Child(self._stack, serve, latency_s)
        self._url = self._server.hear()

    def workers(self, number: int, calls: int, workers: int, name: str = "w", **limits: object) -> list[Child]:
        """Start processes that wait for their sign."""
        environ = {"XDG_CACHE_HOME": str(self.cache), "OPENAI_API_KEY": "a-key"}
        children = [
            Child(self._stack, work, environ, self._url, f"{name}{one}", calls, workers, limits)
            for one in range(number)
        ]
        assert [child.hear() for child in children] == ["ready"] * number
        return children

    @property
    def seen(self) -> dict[str, Any]:
        assert self._server is not None
        self._server.line.send("what was there?")
        found: dict[str, Any] = self._server.hear()
        return found

    def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + 20
        while not condition(seen := self.seen):
            assert time.monotonic() < end, f"it did not come to it: {seen}"
            time.sleep(0.01)
        return seen


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with ExitStack() as stack:
        yield Machine(stack, tmp_path)


def _done(children: list[Child]) -> list[dict[str, Any]]:
    return [child.hear() for child in children]


def test_eight_processes_keep_to_one_limit_share_it_and_lose_nothing(machine: Machine) -> None:
    machine.serve(0.03)
    children = machine.workers(8, 40, 16, max_concurrent_requests=10)
    for child in children:
        child.line.send("go")
    done = _done(children)
    assert sorted(text for one in done for text in one["done"]) == sorted(
        f"w{p} {n}" for p in range(8) for n in range(40)
    )
    seen = machine.seen
    assert seen["most"] == 10
    half = seen["answered"][: len(seen["answered"]) // 2]
    shares = [sum(text.startswith(f"w{one} ") for text in half) for one in range(8)]
    assert min(shares) >= 8, f"20 would be even, and nobody is left behind: {shares}"
    assert not list((Path(machine.cache) / "reflact/limits").glob("*/*")), "the last one leaves nothing behind"


def test_a_run_that_comes_later_gets_an_even_share_at_once(machine: Machine) -> None:
    machine.serve(0.05)
    (early,) = machine.workers(1, 400, 16, "early", max_concurrent_requests=4)
    (late,) = machine.workers(1, 60, 16, "late", max_concurrent_requests=4)
    early.line.send("go")
    machine.until(lambda seen: len(seen["answered"]) >= 20)
    late.line.send("go")
    _done([late])
    answered = machine.seen["answered"]
    first = next(place for place, text in enumerate(answered) if text.startswith("late"))
    together = answered[first : first + 100]
    assert 40 <= sum(text.startswith("late") for text in together) <= 60


def test_a_killed_process_gives_its_slots_back(machine: Machine) -> None:
    machine.serve(0.4)
    (doomed,) = machine.workers(1, 50, 8, "doomed", max_concurrent_requests=4)
    (heir,) = machine.workers(1, 8, 8, "heir", max_concurrent_requests=4)
    doomed.line.send("go")
    machine.until(lambda seen: len(seen["started"]) >= 4)
    heir.line.send("go")
    doomed.process.kill()
    (done,) = _done([heir])
    assert len(done["done"]) == 8
    assert done["wall_s"] < 4 * 0.4 + 1, "two rounds of four, and a moment to notice"


def test_what_one_is_told_all_heed_whatever_limits_they_set(machine: Machine) -> None:
    machine.serve(0.01)
    (told,) = machine.workers(1, 1, 1, "limit 1.5 #", requests_per_minute=100)
    (other,) = machine.workers(1, 1000, 2, "other")
    other.line.send("go")
    machine.until(lambda seen: len(seen["answered"]) >= 20)
    told.line.send("go")
    seen = machine.until(lambda seen: any(text.startswith("limit") for text, _ in seen["started"]))
    _done([told])
    seen = machine.seen
    refused = next(at for text, at in seen["started"] if text.startswith("limit"))
    during = [text for text, at in seen["started"] if refused + 0.3 < at < refused + 1.45]
    assert during == []
    assert [text for text, at in seen["started"] if at > refused + 1.45]


def test_the_strictest_limit_holds_for_all(machine: Machine) -> None:
    machine.serve(0.05)
    strict = machine.workers(1, 40, 8, "strict", max_concurrent_requests=2)
    loose = machine.workers(1, 40, 8, "loose", max_concurrent_requests=6)
    strict[0].line.send("go")
    machine.until(lambda seen: len(seen["answered"]) >= 2)
    loose[0].line.send("go")
    assert all(len(one["done"]) == 40 for one in _done(strict))
    load = machine.seen["load"]
    # The strict one's limit ends with the strict one, so what came after its last request may be more.
    last = max(place for place, (text, _) in enumerate(load) if text.startswith("strict"))
    assert max(in_flight for _, in_flight in load[: last + 1]) == 2
    assert any(text.startswith("loose") for text, _ in load[:last])
    _done(loose)
