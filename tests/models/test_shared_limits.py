from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reflact.config.operation import LimitsConfig
from reflact.core.errors import ConfigError
from reflact.core.events import Event, Warned
from reflact.models.limit_board import Member
from reflact.models.limit_folder import shared_folder
from reflact.models.limit_making import folder_name, limits_shown, make_limiter
from reflact.models.limit_store import FileStore, MemoryStore
from reflact.models.limits import LimitKey, LocalLimiter
from reflact.models.shared_limits import SharedLimiter, boot_clock

from . import virtual_time
from .support import until

KEY = LimitKey("http://h/v1", "m1", "abc")


def _limiter(store: Callable[[], Any], now: Callable[[], float] = boot_clock, **limits: Any) -> SharedLimiter:
    return SharedLimiter(LimitsConfig(**limits), store, _no_warning, now=now, rng=Random(0))


def _no_warning(message: str) -> None:
    raise AssertionError(message)


async def _pass(limiter: SharedLimiter, tokens: int = 1, used: int | None = None) -> float:
    async with limiter.permit(tokens) as permit:
        permit.settle(used)
        return permit.waited_s


def test_without_limits_nobody_waits_and_nothing_is_left_behind(tmp_path: Path) -> None:
    async def main() -> None:
        limiter = _limiter(lambda: FileStore(tmp_path / "k"))
        await asyncio.gather(*[_pass(limiter) for _ in range(50)])
        assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o700
        await limiter.aclose()
        assert not (tmp_path / "k").exists()

    asyncio.run(main())


def test_requests_are_let_in_in_order_and_two_limiters_are_one_limit(tmp_path: Path) -> None:
    inside, most, order = 0, 0, []

    async def work(limiter: SharedLimiter, name: int) -> None:
        nonlocal inside, most
        async with limiter.permit(1):
            order.append(name)
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.002)
            inside -= 1

    async def main() -> None:
        limiters = [_limiter(lambda: FileStore(tmp_path / "k"), max_concurrent_requests=3) for _ in range(2)]
        await asyncio.gather(*[work(limiters[name % 2], name) for name in range(40)])
        for limiter in limiters:
            await limiter.aclose()

    asyncio.run(main())
    assert most == 3 and sorted(order) == list(range(40))
    for half in (0, 1):
        assert [name for name in order if name % 2 == half] == list(range(half, 40, 2))


def test_a_minute_is_a_minute_and_unused_tokens_let_others_start() -> None:
    async def main() -> None:
        limiter = _limiter(MemoryStore, virtual_time.now, tokens_per_minute=100, requests_per_minute=3)
        assert await _pass(limiter, 90, 20) == 0
        assert await _pass(limiter, 80, 70) == 0
        waiting = asyncio.create_task(_pass(limiter, 40))
        assert 60 <= await waiting <= 61.5

    virtual_time.run(main())


def test_tokens_given_back_wake_who_waits_for_them() -> None:
    async def main() -> None:
        limiter = _limiter(MemoryStore, virtual_time.now, tokens_per_minute=100)
        async with limiter.permit(90) as permit:
            waiting = asyncio.create_task(_pass(limiter, 50))
            await asyncio.sleep(2)
            permit.settle(10)
            assert await waiting < 2.5

    virtual_time.run(main())


def test_a_cool_down_holds_all_and_may_grow(tmp_path: Path) -> None:
    async def main() -> None:
        one, other = (_limiter(lambda: FileStore(tmp_path / "k")) for _ in range(2))
        await asyncio.gather(_pass(one), _pass(other))
        one.cool_down(0.2)
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(_pass(other))
        await asyncio.sleep(0.05)
        one.cool_down(0.3)
        assert 0.25 <= await waiting < 5
        await one.aclose()
        await other.aclose()

    asyncio.run(main())


@pytest.mark.parametrize("limits", [{"max_concurrent_requests": 1}, {"requests_per_minute": 1}])
def test_a_cancelled_request_leaves_nothing_behind(limits: dict[str, int]) -> None:
    async def main() -> None:
        limiter = _limiter(MemoryStore, virtual_time.now, **limits)
        async with limiter.permit(1):
            waiting = [asyncio.create_task(_pass(limiter)) for _ in range(3)]
            await asyncio.sleep(0.01)
            for task in waiting[:2]:
                task.cancel()
            await asyncio.gather(*waiting[:2], return_exceptions=True)
        assert await waiting[2] >= 0
        assert limiter._in_flight == 0 and await _pass(limiter) >= 0

    virtual_time.run(main())


def test_a_request_cancelled_in_the_moment_of_its_leave_gives_it_back() -> None:
    async def main() -> None:
        limiter = _limiter(MemoryStore, virtual_time.now, max_concurrent_requests=1)
        task = asyncio.create_task(_pass(limiter))
        await until(lambda: limiter._in_flight)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert limiter._in_flight == 0 and await _pass(limiter) >= 0

    virtual_time.run(main())


def test_adapting_finds_what_a_server_takes() -> None:
    """Ten at once are answered; the number in flight comes to be about that."""
    counts: list[int] = []

    async def main() -> None:
        limiter, inside = _limiter(MemoryStore, virtual_time.now, adaptive=True), 0

        async def work() -> None:
            nonlocal inside
            for _ in range(40):
                async with limiter.permit(1) as permit:
                    inside += 1
                    counts.append(inside)
                    if inside > 10:
                        limiter.cool_down(0.5)
                    else:
                        await asyncio.sleep(1)
                        permit.settle(1)
                    inside -= 1

        await asyncio.gather(*[work() for _ in range(64)])

    virtual_time.run(main())
    late = counts[len(counts) // 4 :]
    assert max(late) <= 11
    assert sum(late) / len(late) > 5
    assert sum(count > 10 for count in late) < len(late) / 15


def test_a_folder_that_is_removed_in_the_middle_is_made_anew(tmp_path: Path) -> None:
    async def main() -> None:
        root = tmp_path / "limits"
        one, other = (_limiter(lambda: FileStore(root / "boot" / "k"), max_concurrent_requests=1) for _ in range(2))
        await _pass(one)
        shutil.rmtree(root)
        async with one.permit(1):
            waiting = asyncio.create_task(_pass(other))
            await asyncio.sleep(0.05)
            assert not waiting.done(), "they meet again"
        await asyncio.wait_for(waiting, 5)
        assert {stat.S_IMODE(path.stat().st_mode) for path in (root, root / "boot")} == {0o700}
        await one.aclose()
        await other.aclose()

    asyncio.run(main())


def test_a_state_torn_in_the_middle_of_a_write_is_the_one_before(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "k")
    for number in (1, 2, 3):
        board = store.enter()
        assert board is not None and board.cool_until == number - 1
        board.cool_until = float(number)
        store.leave(board)
    file = os.open(tmp_path / "k" / "board", os.O_RDWR)
    os.pwrite(file, b"#", 20)  # the first and third state stand at the beginning
    os.close(file)
    board = store.enter()
    assert board is not None and board.cool_until == 2.0
    store.leave(None)
    store.close(remove=False)


def test_a_state_larger_than_a_page_is_read_whole(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "k")
    for _ in range(3):
        board = store.enter()
        assert board is not None
        board.buckets = {number: [number, number] for number in range(2000)}
        store.leave(board)
    board = store.enter()
    assert board is not None and len(board.buckets) == 2000
    store.close(remove=True)


def test_files_that_fail_leave_limits_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    async def main() -> None:
        limits = LimitsConfig(max_concurrent_requests=1)
        limiter = SharedLimiter(limits, lambda: FileStore(tmp_path / "k"), said.append)
        await _pass(limiter)
        monkeypatch.setattr(os, "pwrite", full)
        async with limiter.permit(1):
            waiting = asyncio.create_task(_pass(limiter))
            await asyncio.sleep(0.02)
            assert not waiting.done()
        await waiting
        await limiter.aclose()

    asyncio.run(main())
    assert len(said) == 1 and "No space left" in said[0] and "this process only" in said[0]


def test_who_is_dead_is_seen_to_be_dead_though_a_forked_child_lives_on(tmp_path: Path) -> None:
    ours = FileStore(tmp_path / "k")
    assert ours.is_there(ours.name) and not ours.is_there("1-2-3-nobody")
    space = ours.name.split("-")[2]
    ghost = tmp_path / "k" / f"{os.getpid()}-1-{space}-abcd"  # our number, started at another time
    os.mkfifo(ghost)
    held = os.open(ghost, os.O_RDWR | os.O_NONBLOCK)
    assert not ours.is_there(ghost.name)
    os.close(held)
    ours.close(remove=True)


def test_a_dead_member_is_removed_with_what_it_left(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "k").mkdir(mode=0o700)
        limiter = _limiter(lambda: FileStore(tmp_path / "k"), max_concurrent_requests=1)
        await _pass(limiter)
        other = FileStore(tmp_path / "k")
        board = other.enter()
        assert board is not None
        board.members["999999-1-2-dead"] = Member(1, in_flight=1)
        other.leave(board)
        os.mkfifo(tmp_path / "k" / "999999-1-2-dead")
        assert await _pass(limiter) < 5
        assert not (tmp_path / "k" / "999999-1-2-dead").exists()
        other.close(remove=False)
        await limiter.aclose()

    asyncio.run(main())


def test_the_folder_is_private_or_refused(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    folder = shared_folder(environ)
    assert folder.parent == tmp_path / ".cache/reflact/limits"
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    folder.parent.chmod(0o750)
    with pytest.raises(ConfigError, match=r"open to others \(mode 750\): chmod 700"):
        shared_folder(environ)
    folder.parent.chmod(0o700)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="not a folder"):
        shared_folder(environ)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"HOME": "/nowhere", "XDG_CACHE_HOME": str(tmp_path)}
    shared_folder(environ)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ConfigError, match=r"belongs to user .*XDG_CACHE_HOME"):
        shared_folder(environ)


@pytest.mark.parametrize("home", [None, "relative", "a file"])
def test_without_a_home_limits_hold_in_this_process_with_a_warning(tmp_path: Path, home: str | None) -> None:
    (tmp_path / "file").write_text("")
    environ = {} if home is None else {"HOME": str(tmp_path / "file") if home == "a file" else home}
    events: list[Event] = []
    limits = LimitsConfig(max_concurrent_requests=1)
    limiter = make_limiter(KEY, limits, events.append, remote=True, environ=environ)
    assert [event.code for event in events if isinstance(event, Warned)] == ["limits_not_shared"]
    assert isinstance(limiter, SharedLimiter)
    asyncio.run(_pass(limiter))
    assert "not shared" in limits_shown(KEY, limits, environ)


def test_a_model_in_this_process_shares_nothing(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    limiter = make_limiter(KEY, LimitsConfig(), _fail, remote=False, environ=environ)
    assert isinstance(limiter, LocalLimiter) and not list(tmp_path.iterdir())


def _fail(event: Event) -> None:
    raise AssertionError(event)


def test_what_is_in_force_is_shown(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert limits_shown(KEY, LimitsConfig(), environ) == "no limits set; shared with 0 other processes"

    async def main() -> None:
        limiter = make_limiter(KEY, LimitsConfig(max_concurrent_requests=4), _fail, remote=True, environ=environ)
        assert isinstance(limiter, SharedLimiter)
        await _pass(limiter)
        limiter.cool_down(100)
        await asyncio.sleep(0.01)
        shown = limits_shown(KEY, LimitsConfig(requests_per_minute=9, adaptive=True), environ)
        assert "at most 4 requests in flight, at most 9 requests a minute, adapting to 429s" in shown
        assert f"shared with 1 other process (pid {os.getpid()}), all paused for" in shown
        await limiter.aclose()

    asyncio.run(main())
    assert "0 other processes, all paused" in limits_shown(KEY, LimitsConfig(), environ)


def test_folders_tell_nothing_and_differ_by_each_part() -> None:
    keys = [KEY, LimitKey("e", "m1", "abc"), LimitKey("http://h/v1", "m1", "abd"), LimitKey("http://h/v1", "m2", "abc")]
    assert len({folder_name(key) for key in keys}) == 4
