"""Proof that a made game can be won: its walkthrough is played in the real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.alfworld.games import read_game
from reflact.benchmarks.alfworld.simulator.limits import SimulatorFailure
from reflact.benchmarks.alfworld.simulator.pool import Pool


@dataclass(frozen=True, slots=True)
class Proof:
    """What playing a walkthrough showed; `problem` is None if the game was won with the last command."""

    path: Path
    steps: int
    problem: str | None


async def prove(paths: Sequence[Path], pool: Pool) -> list[Proof]:
    """Play the walkthrough of each game, as many at a time as the pool has processes."""
    gate = asyncio.Semaphore(pool.size)

    async def one(path: Path) -> Proof:
        async with gate:
            return await _prove(path, pool)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(path)) for path in paths]
    return [task.result() for task in tasks]


async def _prove(path: Path, pool: Pool) -> Proof:
    commands = read_game(path).walkthrough
    try:
        game, state = await pool.open(path, len(commands) + 1)
        try:
            for step, command in enumerate(commands):
                if state.won:
                    return Proof(path, step, f"won before {command!r}")
                if command not in state.admissible:
                    return Proof(path, step, f"{command!r} is not possible")
                state = await game.play(command)
        finally:
            game.leave()
    except SimulatorFailure as failure:
        return Proof(path, 0, f"{failure.cause}: {failure}")
    return Proof(path, len(commands), None if state.won else "not won at the end")
