"""The real engine, in worker processes of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflact.benchmarks.alfworld.games import read_game
from reflact.benchmarks.alfworld.making.files import MadeGame, contents, plan_games, write_files
from reflact.benchmarks.alfworld.simulator.limits import MIB, Limits, SimulatorFailure
from reflact.benchmarks.alfworld.simulator.messages import State
from reflact.benchmarks.alfworld.simulator.pool import Pool
from reflact.benchmarks.alfworld.verbs import HELP, missing_shapes, shape, shapes_of, unknown_shapes

from .support import needs_engine

pytestmark = needs_engine
COUNTS = {"train": 1, "valid_seen": 0, "valid_unseen": 0}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games") / "data"
    write_files(folder, contents(list(plan_games(COUNTS, seed=1))))
    return folder


def games() -> list[MadeGame]:
    return list(plan_games(COUNTS, seed=1))


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One pool for all tests: a process takes a second or more to start."""
    shared = Pool(1)
    yield shared
    shared.close()


def test_all_task_types_are_won_side_by_side_in_one_process(root: Path, pool: Pool) -> None:
    async def win(made: MadeGame) -> list[State]:
        path = root / made.gamefile
        game, state = await pool.open(path, 50)
        states = [state]
        for command in read_game(path).walkthrough:
            assert command in states[-1].admissible
            states.append(await game.play(command))
        game.leave()
        return states

    async def run() -> None:
        for states in await asyncio.gather(*(win(made) for made in games())):
            assert [state.won for state in states] == [False] * (len(states) - 1) + [True]
            assert states[-1].done and "Your task is to:" in states[0].observation
        assert len(pool.pids) == 1

    asyncio.run(run())


def test_the_prompt_names_the_engines_commands(root: Path, pool: Pool) -> None:
    """Forms that no action of the domain uses stay in the grammar; a game's own file tells them apart."""

    async def run() -> State:
        game, state = await pool.open(root / games()[0].gamefile, 50)
        game.leave()
        return state

    state = asyncio.run(run())
    data = json.loads((root / games()[0].gamefile).read_text(encoding="utf-8"))
    known = shapes_of(data["pddl_domain"], data["grammar"])
    assert (unknown_shapes(known), missing_shapes(known)) == ((), ())
    assert known <= {shape(form) for form in state.templates}
    verbs = {name.split()[0] for name in known}
    assert {command.split()[0] for command in state.admissible} <= verbs and HELP in state.admissible


def test_only_exact_commands_have_an_effect(root: Path, pool: Pool) -> None:
    async def run() -> None:
        game, start = await pool.open(root / games()[0].gamefile, 50)
        going = next(command for command in start.admissible if command.startswith("go to"))
        for wrong in ("dance", going.upper(), going.replace(" ", "  "), f"{going}!", "put x in/on y 1"):
            state = await game.play(wrong)
            assert (state.observation, state.admissible) == ("Nothing happens.", start.admissible)
        assert (await game.play(going)).observation.startswith("You arrive at")
        game.leave()

    asyncio.run(run())


def test_a_process_that_is_killed_is_made_up_for(root: Path, pool: Pool) -> None:
    path = root / games()[2].gamefile
    commands = read_game(path).walkthrough

    async def run() -> None:
        game, state = await pool.open(path, 50)
        before = pool.started
        for number, command in enumerate(commands):
            if number == 2:
                os.kill(pool.pids[0], signal.SIGKILL)
            state = await game.play(command)
        assert state.won and pool.started == before + 1
        game.leave()

    asyncio.run(run())


def test_a_game_that_the_engine_cannot_read_fails_alone(root: Path, pool: Pool, tmp_path: Path) -> None:
    data = json.loads((root / games()[0].gamefile).read_text(encoding="utf-8"))
    broken = tmp_path / "game.tw-pddl"
    broken.write_text(json.dumps({**data, "grammar": "action {"}), encoding="utf-8")

    async def run() -> None:
        with pytest.raises(SimulatorFailure) as caught:
            await pool.open(broken, 50)
        assert caught.value.cause == "simulator_error"

    asyncio.run(run())


def limits_of(pid: int) -> str:
    return Path(f"/proc/{pid}/limits").read_text(encoding="ascii")


def test_memory_is_bounded(root: Path, pool: Pool) -> None:
    async def run() -> None:
        game, _ = await pool.open(root / games()[0].gamefile, 50)
        assert f"Max address space         {Limits().address_space} " in limits_of(pool.pids[0])
        game.leave()
        small = Pool(1, limits=Limits(address_space=64 * MIB))
        with pytest.raises(SimulatorFailure):
            await small.open(root / games()[0].gamefile, 50)
        small.close()

    asyncio.run(run())


def test_the_parent_never_imports_the_engine(root: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path; import reflact.benchmarks.alfworld.benchmark as b\n"
        "async def run():\n"
        "    pool = b.Pool(1); game, state = await pool.open(Path(sys.argv[1]), 50); pool.close(); return state\n"
        "assert asyncio.run(run()).admissible\n"
        "print([name for name in ('textworld', 'alfworld', 'fast_downward', 'numpy') if name in sys.modules])"
    )
    path = str(root / games()[0].gamefile)
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
