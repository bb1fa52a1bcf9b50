"""A game in a worker process, which survives one failure of the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from reflact.benchmarks.alfworld.simulator.limits import Limits, SimulatorFailure, WorkerGone
from reflact.benchmarks.alfworld.simulator.messages import Close, Open, Request, State, Step
from reflact.benchmarks.alfworld.simulator.process import Worker

_ATTEMPTS = 2
_MOVES = 20


class Seats(Protocol):
    """Where games find processes; see `Pool`."""

    limits: Limits

    def seat(self) -> Worker:
        """Return a process that takes one more game."""
        ...

    def refresh(self, worker: Worker) -> None:
        """Replace a process if it has grown too large."""
        ...


class Game:
    """A game under way.

    Games are deterministic: where a process ends, the game is begun anew in another one and the commands so far are
    played again, without asking the student anything twice. A failure while this game's own request was with the
    engine counts; the second one is raised. That a process ended at another time is not this game's doing, and is
    borne many times.
    """

    def __init__(self, seats: Seats, number: int, path: Path, max_steps: int) -> None:
        self._seats = seats
        self._path = path.absolute()  # a process works in a folder of its own
        self._max_steps = max_steps
        self._number = number
        self._worker: Worker | None = None
        self._played: list[str] = []
        self._state: State | None = None
        self._failures = self._moves = 0

    async def begin(self) -> State:
        """Open the game; see `Pool.open`."""
        return await self._survive(None)

    async def play(self, command: str) -> State:
        """Play a command.

        Raises:
            SimulatorFailure: The engine failed twice.
        """
        return await self._survive(command)

    def leave(self) -> None:
        """End the game; never waits and never fails."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.games -= 1
            worker.closed_games += 1
            worker.tell(Close(self._number))
            self._seats.refresh(worker)

    async def _survive(self, command: str | None) -> State:
        while True:
            try:
                state = await self._restored()
                if command is not None:
                    state = await self._ask(Step(self._number, command), self._seats.limits.step_s)
                    self._played.append(command)
                self._state = state
            except WorkerGone as gone:
                self._leave_seat()
                self._moves += 1
                if self._moves > _MOVES:
                    raise SimulatorFailure("simulator_died", f"{gone}, the {self._moves}th under this game") from gone
            except SimulatorFailure:
                if self._worker is not None:
                    self._worker.retire()  # after an exception, its one parser may be in any state
                self._leave_seat()
                self._failures += 1
                if self._failures >= _ATTEMPTS:
                    raise
            else:
                if self._worker is not None:
                    self._seats.refresh(self._worker)
                return state

    async def _restored(self) -> State:
        """Return the state before the next command, in a process that holds it."""
        if self._worker is not None and self._state is not None:
            return self._state
        self._worker = self._seats.seat()
        self._worker.games += 1
        state = await self._opened()
        for command in self._played:
            state = await self._ask(Step(self._number, command), self._seats.limits.step_s)
        if self._state is not None and state.observation != self._state.observation:
            raise SimulatorFailure("simulator_game", "the game went another way when its commands were played again")
        return state

    async def _opened(self) -> State:
        request = Open(self._number, str(self._path), self._max_steps)
        state = await self._ask(request, self._seats.limits.open_s)
        if state.gamefile != str(self._path):
            raise SimulatorFailure("simulator_game", f"{state.gamefile} was opened instead of {self._path}")
        return state

    async def _ask(self, request: Request, seconds: float) -> State:
        assert self._worker is not None
        reply = await self._worker.ask(request, seconds)
        if reply.error is not None:
            raise SimulatorFailure("simulator_error", reply.error)
        assert reply.state is not None
        return reply.state

    def _leave_seat(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.games -= 1
            worker.tell(Close(self._number))
