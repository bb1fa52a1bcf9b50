"""Games of a rehearsal that the engine need not play again: it plays what nobody has played before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Protocol

from reflact.benchmarks.alfworld.games import read_game
from reflact.benchmarks.alfworld.simulator.game import Game
from reflact.benchmarks.alfworld.simulator.messages import State, read_state
from reflact.benchmarks.alfworld.simulator.pool import Pool
from reflact.benchmarks.recall import Recall
from reflact.core.hashing import canonical
from reflact.core.types import Json


class Played(Protocol):
    """A game under way; see `simulator.game.Game`."""

    async def play(self, command: str) -> State:
        """Play a command."""
        ...

    def leave(self) -> None:
        """End the game."""
        ...


class RecalledGames:
    """A pool's games, with what the engine said in other runs.

    Games are deterministic: what a game shows follows from its file and the commands so far. The engine opens a game
    only when a command comes that is not known there, and then plays those before it first.

    Args:
        pool: Plays.
        recall: What is known.
    """

    def __init__(self, pool: Pool, recall: Recall) -> None:
        self._pool = pool
        self._recall = recall
        self._hashes: dict[Path, str] = {}

    async def open(self, path: Path, max_steps: int) -> tuple[Played, State]:
        """Begin a game; `leave` ends it.

        Raises:
            SimulatorFailure: The engine failed twice.
        """
        if path not in self._hashes:
            self._hashes[path] = read_game(path).sha256
        key = {"game": self._hashes[path], "max_steps": max_steps}
        game = RecalledGame(partial(self._pool.open, path, max_steps), self._recall, key)
        try:
            return game, await game.begin()
        except BaseException:
            game.leave()
            raise

    def close(self) -> None:
        """End the processes."""
        self._pool.close()


class RecalledGame:
    """One game; see `RecalledGames`."""

    def __init__(self, start: Callable[[], Awaitable[tuple[Game, State]]], recall: Recall, key: Json) -> None:
        self._start, self._recall, self._key = start, recall, key
        self._known = self._read()
        self._new: dict[str, Json] = {}
        self._commands: list[str] = []
        self._game: Game | None = None

    async def begin(self) -> State:
        """Return what the game shows first."""
        known = self._known.get(self._place())
        if known is not None:
            return read_state(known)
        self._game, state = await self._start()
        return self._saw(state)

    async def play(self, command: str) -> State:
        """Play a command.

        Raises:
            SimulatorFailure: The engine failed twice.
        """
        self._commands.append(command)
        if self._game is None:
            known = self._known.get(self._place())
            if known is not None:
                return read_state(known)
            self._game, _ = await self._start()
            for earlier in self._commands[:-1]:
                await self._game.play(earlier)
        return self._saw(await self._game.play(command))

    def leave(self) -> None:
        """End the game and keep what is new of it."""
        if self._game is not None:
            self._game.leave()
        if self._new:
            # Another run may have played the same game another way meanwhile.
            self._recall.put(self._key, {**self._read(again=True), **self._new})
            self._new = {}

    def _read(self, *, again: bool = False) -> dict[str, Json]:
        return dict(self._recall.get(self._key, again=again) or {})

    def _saw(self, state: State) -> State:
        self._new[self._place()] = asdict(state)
        return state

    def _place(self) -> str:
        return canonical(self._commands)
