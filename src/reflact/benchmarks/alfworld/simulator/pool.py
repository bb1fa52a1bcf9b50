"""A bounded pool of worker processes, each of which plays several games."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from reflact.benchmarks.alfworld.simulator.game import Game
from reflact.benchmarks.alfworld.simulator.limits import Limits
from reflact.benchmarks.alfworld.simulator.messages import State
from reflact.benchmarks.alfworld.simulator.process import Worker

PROGRAM = (sys.executable, "-P", "-m", "reflact.benchmarks.alfworld.simulator.worker")


class Pool:
    """At most `size` processes for any number of games; a process starts when it is first needed.

    A game occupies the engine for a fraction of a second a turn and then waits for a model, so a process takes turns
    between its games. Processes are reused from game to game; see `Limits.resident` for when one is replaced.

    Args:
        size: Most processes.
        program: The program's command line.
        limits: Bounds of each process.
    """

    def __init__(self, size: int, *, program: Sequence[str] = PROGRAM, limits: Limits | None = None) -> None:
        self.size = size
        self.limits = Limits() if limits is None else limits
        self.started = 0
        self._program = tuple(program)
        self._workers: list[Worker] = []
        self._numbers = count(1)

    async def open(self, path: Path, max_steps: int) -> tuple[Game, State]:
        """Begin a game; `Game.leave` ends it.

        Raises:
            SimulatorFailure: The engine failed twice.
        """
        game = Game(self, next(self._numbers), path, max_steps)
        try:
            return game, await game.begin()
        except BaseException:
            game.leave()
            raise

    def seat(self) -> Worker:
        """Return the process with the fewest games, a new one if all are taken and another is allowed."""
        self._workers = [worker for worker in self._workers if not worker.ended]
        free = min((worker for worker in self._workers if worker.alive), key=lambda worker: worker.games, default=None)
        # One that is about to end may still stand beside its successor for a moment.
        taken = sum(worker.alive for worker in self._workers)
        if free is None or (free.games and taken < self.size):
            free = Worker(self._program, self.limits)
            self._workers.append(free)
            self.started += 1
        return free

    def refresh(self, worker: Worker) -> None:
        """Retire a process that has grown too large; its games go on in another one.

        Only what finished games left behind can be got rid of, so a process without any is kept.
        """
        if worker.resident > self.limits.resident and worker.closed_games:
            worker.retire()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that are there now."""
        return tuple(worker.pid for worker in self._workers if worker.alive)

    def close(self) -> None:
        """End all processes; the pool may be used again."""
        for worker in self._workers:
            worker.end()
        self._workers = []
