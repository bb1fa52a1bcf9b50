"""Games of a rehearsal: played once by the engine, read from then on, and never confused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reflact.benchmarks.alfworld.recalled import RecalledGames
from reflact.benchmarks.alfworld.simulator.limits import SimulatorFailure
from reflact.benchmarks.alfworld.simulator.messages import State
from reflact.benchmarks.recall import Recall

from .support import fake_pool, write_game


def play(root: Path, path: Path, *commands: str, max_steps: int = 50) -> tuple[list[State], int]:
    """Play a game as a new run would; return what it showed and how many processes were started."""

    async def run() -> tuple[list[State], int]:
        pool = fake_pool()
        games = RecalledGames(pool, Recall(root / "shared", {}))
        try:
            game, state = await games.open(path, max_steps)
            states = [state]
            try:
                for command in commands:
                    states.append(await game.play(command))
            finally:
                game.leave()
        finally:
            games.close()
        return states, pool.started

    return asyncio.run(run())


def test_what_was_played_before_is_the_same_without_the_engine(tmp_path: Path) -> None:
    path = write_game(tmp_path / "game")
    first = play(tmp_path, path, "look", "dance", "win")
    again = play(tmp_path, path, "look", "dance", "win")
    assert (first[1], again[1]) == (1, 0)
    assert first[0] == again[0]
    assert [state.won for state in again[0]] == [False, False, False, True]


def test_another_command_is_played_after_those_before_it(tmp_path: Path) -> None:
    path = write_game(tmp_path / "game")
    play(tmp_path, path, "look", "look")
    states, started = play(tmp_path, path, "look", "dance", "look")
    assert started == 1
    assert [state.observation for state in states[1:]] == ["seen 1", "Nothing happens.", "seen 3"]
    both = [play(tmp_path, path, "look", second)[1] for second in ("look", "dance")]
    assert both == [0, 0]


def test_another_game_and_another_number_of_turns_are_their_own(tmp_path: Path) -> None:
    path = write_game(tmp_path / "game")
    play(tmp_path, path, "look")
    assert play(tmp_path, path, "look", max_steps=9)[1] == 1
    assert play(tmp_path, write_game(tmp_path / "game", "put a cup in the sink"), "look")[1] == 1


def test_a_failure_of_the_engine_is_not_kept(tmp_path: Path) -> None:
    path = write_game(tmp_path / "raise-always")
    for _ in range(2):
        with pytest.raises(SimulatorFailure, match="KeyError"):
            play(tmp_path, path, "look", "risk")
    states, started = play(tmp_path, path, "look")
    assert (len(states), started) == (2, 0)
