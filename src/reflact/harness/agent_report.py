"""What the events of an agent program say, whichever program it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reflact.core.types import Turn
from reflact.core.usage import Usage, counted

_FIELD_CHARS = 2000
_LONGEST_LINE = 32 * 1024 * 1024


@dataclass(slots=True)
class Report:
    """What is known of a program's work.

    Attributes:
        turns: What it said and did, each field shortened.
        text: Its last message.
        completed: Its turn came to an end of its own.
        failure: What went wrong, in its own words; `""` while nothing did.
        status: The HTTP status behind the failure, if it names one.
        kind: A word for the end that is not simply success or failure (`error_max_turns`).
        retries: Times that it asked again.
        usage: What it counted; only where no relay counts.
        flags: Oddities, for the row.
        strange: Lines that were not events.
    """

    turns: list[Turn] = field(default_factory=list)
    text: str = ""
    completed: bool = False
    failure: str = ""
    status: int | None = None
    kind: str = ""
    retries: int = 0
    usage: Usage | None = None
    flags: list[str] = field(default_factory=list)
    strange: int = 0

    def say(self, role: str, text: str) -> None:
        """Add a turn."""
        self.turns.append(Turn(role, shorten(text)))


class Events(Protocol):
    """Reads one program's events."""

    @property
    def report(self) -> Report:
        """What they have said so far."""
        ...

    def event(self, event: Mapping[str, Any]) -> None:
        """Read one event; unknown ones are passed over."""
        ...

    def finish(self) -> None:
        """Take note that there are no more."""
        ...


@dataclass(slots=True)
class Lines:
    """Cuts a program's output into events; lines that are none are counted and left aside."""

    events: Events
    _rest: bytes = b""

    def feed(self, chunk: bytes) -> None:
        """Read a piece of output."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self._rest = b""
            self.events.report.strange += 1
        for line in lines:
            self._line(line)

    def finish(self) -> None:
        """Read what is left."""
        self._line(self._rest)
        self._rest = b""
        self.events.finish()

    def _line(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if isinstance(event, dict):
            self.events.event(event)
        else:
            self.events.report.strange += 1


def shorten(text: str, limit: int = _FIELD_CHARS) -> str:
    """Return a text with its middle left out if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = (limit - 60) // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def flat(content: Any) -> str:
    """Return the texts of a content that may be a text, a block or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if content.get("type") in ("image", "input_image"):
            return "[image]"
        return flat(content.get("text", content.get("content", "")))
    return "\n".join(filter(None, map(flat, content))) if isinstance(content, list) else ""


def count(values: Any, *names: str) -> int:
    """Return the sum of counts in an object; what is missing or cannot be a count is left out."""
    return sum(counted(values.get(name)) for name in names) if isinstance(values, Mapping) else 0
