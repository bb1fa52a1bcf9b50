"""What worker processes may take."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a worker process.

    Attributes:
        start_s: Seconds until a new process has imported the engine.
        open_s: Seconds to load and begin a game; the largest houses need about ten on an idle core.
        step_s: Seconds to play a command; the largest houses need about 0.3.
        resident: Bytes of resident memory above which a process is replaced by a fresh one. The engine keeps about
            1.2 MB of every game it ever loaded.
        address_space: Bytes of address space that a process can have at all.
    """

    start_s: float = 120.0
    open_s: float = 180.0
    step_s: float = 60.0
    resident: int = 300 * MIB
    address_space: int = 2048 * MIB


class SimulatorFailure(Exception):
    """A game that the engine could not go on with.

    Attributes:
        cause: What a row's `cause` says: `simulator_died`, `simulator_hung`, `simulator_error`, `simulator_game`.
    """

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class WorkerGone(Exception):
    """The process had ended before the request was sent to it: nothing that this game did."""
