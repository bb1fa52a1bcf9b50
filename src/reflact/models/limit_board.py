"""What all who share the limits of an endpoint know of each other, and its form in a file."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from zlib import crc32

_HEADER = struct.Struct("<QII")  # generation, length, checksum
HEADER_BYTES = _HEADER.size


@dataclass(slots=True)
class Member:
    """A run (or another user of the endpoint) as the others see it.

    Attributes:
        concurrency: Its `limits.max_concurrent_requests`; 0 asks for none, as with the next two.
        requests: Its `limits.requests_per_minute`.
        tokens: Its `limits.tokens_per_minute`.
        adaptive: Whether it lets the number in flight be found.
        in_flight: Requests that it has in flight.
        waiting: Requests that it wants to start.
        head: Tokens of the first of these.
        served: Requests that it was let start, moved up when it comes back from a pause.
        rung: When it was told to come and start; 0 after it came.
    """

    concurrency: int = 0
    requests: int = 0
    tokens: int = 0
    adaptive: bool = False
    in_flight: int = 0
    waiting: int = 0
    head: int = 0
    served: int = 0
    rung: float = 0.0


@dataclass(slots=True)
class Board:
    """The shared state; times are seconds since the machine's start.

    Attributes:
        members: By name.
        buckets: Requests and tokens of the last minute by number of the piece of time in which they started.
        cool_until: No request starts before.
        ceiling: Requests in flight as found by adapting; 0 before anybody adapted.
        rising: No 429 was met yet, so that the ceiling rises fast.
        swept: When it was last looked whether members are still there.
    """

    members: dict[str, Member] = field(default_factory=dict)
    buckets: dict[int, list[int]] = field(default_factory=dict)
    cool_until: float = 0.0
    ceiling: float = 0.0
    rising: bool = True
    swept: float = 0.0

    def to_bytes(self) -> bytes:
        """Return the board as JSON."""
        return json.dumps(
            [
                {name: _values(member) for name, member in self.members.items()},
                [[number, *used] for number, used in self.buckets.items()],
                [self.cool_until, self.ceiling, self.rising, self.swept],
            ],
            separators=(",", ":"),
        ).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> Board:
        """Read a board written by `to_bytes`."""
        members, buckets, others = json.loads(data)
        return cls(
            {name: Member(*values) for name, values in members.items()},
            {number: [requests, tokens] for number, requests, tokens in buckets},
            *others,
        )


def _values(member: Member) -> tuple[object, ...]:
    """Return the fields in order; `dataclasses.astuple` copies deeply, which costs more than all the rest."""
    return tuple(getattr(member, name) for name in Member.__slots__)


def pack(generation: int, data: bytes) -> bytes:
    """Return a copy of the state as it stands in the file."""
    return _HEADER.pack(generation, len(data), crc32(data, generation & 0xFFFFFFFF)) + data


def length(area: bytes) -> int:
    """Return the length of the content that a copy claims to have."""
    return int(_HEADER.unpack_from(area)[1]) if len(area) >= HEADER_BYTES else 0


def unpack(area: bytes) -> tuple[int, bytes] | None:
    """Return generation and content; None for a copy that was never written, or not to its end."""
    if len(area) < HEADER_BYTES:
        return None
    generation, size, checksum = _HEADER.unpack_from(area)
    data = area[HEADER_BYTES : HEADER_BYTES + size]
    if len(data) < size or crc32(data, generation & 0xFFFFFFFF) != checksum or not generation:
        return None
    return generation, data
