"""The pool of worker processes, with a program that hangs, dies and babbles on demand."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from reflact.benchmarks.alfworld.simulator.limits import Limits, SimulatorFailure
from reflact.benchmarks.alfworld.simulator.messages import State
from reflact.benchmarks.alfworld.simulator.pool import Pool
from reflact.benchmarks.alfworld.simulator.process import _environment

from .support import QUICK, fake_pool, write_game


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def gone_within(pid: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)


def with_pool(work: Callable[[Pool], Awaitable[None]], size: int = 2, limits: Limits = QUICK) -> Pool:
    async def run() -> Pool:
        pool = fake_pool(size, limits)
        try:
            await work(pool)
        finally:
            pids = pool.pids
            pool.close()
        assert not [pid for pid in pids if alive(pid)]
        return pool

    return asyncio.run(run())


async def play(pool: Pool, path: Path, *commands: str) -> list[State]:
    game, state = await pool.open(path, 50)
    states = [state]
    try:
        for command in commands:
            states.append(await game.play(command))
    finally:
        game.leave()
    return states


def test_nothing_starts_before_the_first_game() -> None:
    pool = fake_pool()
    assert (pool.started, pool.pids) == (0, ())


def test_processes_are_bounded_and_reused(tmp_path: Path) -> None:
    paths = [write_game(tmp_path / f"slowopen{n}") for n in range(12)]

    async def work(pool: Pool) -> None:
        for states in await asyncio.gather(*(play(pool, path, "look", "win") for path in paths)):
            assert [state.won for state in states] == [False, False, True]
        assert len(pool.pids) == 2
        await play(pool, paths[0], "look")

    assert with_pool(work).started == 2


def test_one_item_at_a_time_needs_one_process(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        for n in range(4):
            await play(pool, write_game(tmp_path / str(n)), "look")

    assert with_pool(work, size=8).started == 1


@pytest.mark.parametrize("how", ["die", "hang", "babble", "raise"])
def test_one_failure_costs_a_replay_and_no_answer(tmp_path: Path, how: str) -> None:
    path = write_game(tmp_path / how)

    async def work(pool: Pool) -> None:
        states = await play(pool, path, "look", "go to desk 1", "risk", "win")
        assert [state.observation for state in states[1:]] == ["seen 1", "seen 2", "seen 3", "seen 4"]
        assert states[-1].won

    assert with_pool(work, size=1).started == 2
    assert (path.parent / "times").stat().st_size == 1


@pytest.mark.parametrize(
    ("how", "cause", "words"),
    [
        ("die", "simulator_died", r"signal 9\): the roof came down"),
        ("hang", "simulator_hung", "did not answer in time"),
        ("babble", "simulator_died", "You see a duck"),
        ("raise", "simulator_error", "KeyError: 'duck'"),
    ],
)
def test_the_second_failure_is_raised_with_its_cause(tmp_path: Path, how: str, cause: str, words: str) -> None:
    path = write_game(tmp_path / f"{how}-always")

    async def work(pool: Pool) -> None:
        with pytest.raises(SimulatorFailure, match=words) as caught:
            await play(pool, path, "look", "risk")
        assert caught.value.cause == cause
        assert (await play(pool, write_game(tmp_path / "fine"), "win"))[-1].won

    with_pool(work)
    assert (path.parent / "times").stat().st_size == 2


def test_other_games_of_a_process_that_ends_go_on(tmp_path: Path) -> None:
    bad = write_game(tmp_path / "die-always")
    good = [write_game(tmp_path / f"good{n}") for n in range(3)]

    async def careless(pool: Pool) -> None:
        with pytest.raises(SimulatorFailure):
            await play(pool, bad, "look", "risk")

    async def careful(pool: Pool, path: Path) -> None:
        game, _ = await pool.open(path, 50)
        for n in range(1, 20):
            await asyncio.sleep(0.02)
            assert (await game.play("look")).observation == f"seen {n}"
        game.leave()

    async def work(pool: Pool) -> None:
        await asyncio.gather(*(careful(pool, path) for path in good), *(careless(pool) for _ in range(3)))

    with_pool(work, size=1)


def test_another_game_than_asked_for_is_a_failure(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        with pytest.raises(SimulatorFailure, match="/elsewhere was opened instead") as caught:
            await play(pool, write_game(tmp_path / "other"))
        assert caught.value.cause == "simulator_game"

    with_pool(work)


def test_a_process_that_has_grown_is_replaced_once_it_can_help(tmp_path: Path) -> None:
    fat, lean = write_game(tmp_path / "fat"), write_game(tmp_path / "lean")

    async def work(pool: Pool) -> None:
        game, _ = await pool.open(lean, 50)
        await game.play("look")
        other, _ = await pool.open(fat, 50)
        for _ in range(3):
            await other.play("look")
        assert pool.started == 1, "games under way are no garbage"
        other.leave()
        assert (await game.play("look")).observation == "seen 2"
        assert pool.started == 2
        game.leave()

    with_pool(work, size=1)


def test_a_cancelled_item_leaves_its_process_usable(tmp_path: Path) -> None:
    slow, fine = write_game(tmp_path / "slowopen"), write_game(tmp_path / "fine")

    async def work(pool: Pool) -> None:
        await play(pool, fine, "look")
        task = asyncio.create_task(play(pool, slow))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await play(pool, fine, "look", "win"))[-1].won
        assert pool.started == 1

    with_pool(work, size=1)


def test_a_pool_survives_its_event_loop(tmp_path: Path) -> None:
    pool = fake_pool(1)
    for _ in range(3):
        assert asyncio.run(play(pool, write_game(tmp_path / "g"), "win"))[-1].won
    assert pool.started == 1
    pool.close()


def test_a_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    async def run() -> None:
        pool = Pool(1, program=(sys.executable, "-c", "raise SystemExit('no such engine')"), limits=QUICK)
        with pytest.raises(SimulatorFailure, match=r"exit code 1\): no such engine"):
            await pool.open(write_game(tmp_path / "g"), 50)
        pool.close()

    asyncio.run(run())


def test_each_process_leads_a_group_of_its_own(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        await play(pool, write_game(tmp_path / "g"))
        (pid,) = pool.pids
        assert os.getpgid(pid) == pid != os.getpgid(0)

    with_pool(work)


def test_no_key_reaches_a_process() -> None:
    given = {"PATH": "/bin", "OPENAI_API_KEY": "k", "AZURE_CLIENT_SECRET": "k", "HOME": "/root"}
    made = _environment(Path("/somewhere"), given)
    assert made["PATH"] == "/bin" and made["HOME"] == "/somewhere" and made["PYTHONHASHSEED"] == "0"
    assert "k" not in made.values()


_PARENT = """
import asyncio, sys
from reflact.benchmarks.alfworld.simulator.pool import Pool

WORKER = "import sys, time; from reflact.benchmarks.alfworld.simulator.worker import end_with; "
WORKER += "end_with(int(sys.argv[1])); time.sleep(600)"

async def main():
    pool = Pool(1, program=(sys.executable, "-c", WORKER))
    seat = pool.seat()
    print(seat.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_games_may_be_named_relative_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_game(tmp_path / "near")
    monkeypatch.chdir(tmp_path)

    async def work(pool: Pool) -> None:
        assert (await play(pool, Path("near/game.tw-pddl"), "win"))[-1].won

    with_pool(work)


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    assert alive(worker)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone_within(worker, 10)
