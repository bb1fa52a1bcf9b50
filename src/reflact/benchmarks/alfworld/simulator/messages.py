"""What a pool and its worker processes say to each other: one JSON object a line.

A request has a number, and its reply repeats it, so that replies nobody waits for any more can be told apart. This
module is all that both sides share; it imports nothing but the standard library.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Open:
    """Load a game file and begin it, under a number of the asker's choice."""

    game: int
    path: str
    max_steps: int
    do: Literal["open"] = "open"


@dataclass(frozen=True, slots=True)
class Step:
    """Play a command."""

    game: int
    command: str
    do: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class Close:
    """Forget a game."""

    game: int
    do: Literal["close"] = "close"


Request = Open | Step | Close
_REQUESTS: dict[str, type[Request]] = {"open": Open, "step": Step, "close": Close}


@dataclass(frozen=True, slots=True)
class State:
    """What a game shows.

    Attributes:
        observation: The engine's text.
        admissible: The commands that are possible now.
        won: The task is done.
        done: No further command counts.
        gamefile: The file that the engine says it plays; None if it does not say.
        templates: The forms of all commands that the engine knows; given when a game is opened.
    """

    observation: str
    admissible: tuple[str, ...]
    won: bool
    done: bool
    gamefile: str | None = None
    templates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        id: The request's number.
        rss: Resident memory of the process, in bytes.
        state: What the game shows now; None after `Close` and errors.
        error: What the engine raised, in one line; None if nothing.
    """

    id: int
    rss: int
    state: State | None = None
    error: str | None = None


def write_request(number: int, request: Request) -> bytes:
    """Return a request's line."""
    return _line({"id": number, **asdict(request)})


def read_request(line: bytes) -> tuple[int, Request]:
    """Read a line of `write_request`."""
    data: dict[str, Any] = json.loads(line)
    number = data.pop("id")
    return number, _REQUESTS[data["do"]](**data)


def write_reply(reply: Reply) -> bytes:
    """Return a reply's line."""
    return _line(asdict(reply))


def read_reply(line: bytes) -> Reply:
    """Read a line of `write_reply`.

    Raises:
        ValueError, KeyError, TypeError: The line is no reply.
    """
    data: dict[str, Any] = json.loads(line)
    state = data["state"]
    return Reply(data["id"], data["rss"], None if state is None else read_state(state), data["error"])


def read_state(data: dict[str, Any]) -> State:
    """Return a state from its JSON."""
    return State(**{**data, "admissible": tuple(data["admissible"]), "templates": tuple(data["templates"])})


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=True).encode("ascii") + b"\n"
