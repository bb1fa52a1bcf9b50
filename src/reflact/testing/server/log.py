"""The request log: what came, when, how it ended, and how many were in flight."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reflact.testing.exchange import SeenRequest


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and how it ended.

    Attributes:
        request: The request.
        started_s: When its headers had arrived, on the machine's monotonic clock.
        in_flight: Model calls in flight at that moment, this one included if it is one.
        ended_s: When the answer was out or the client had left; None while it is open.
        status: HTTP status sent, None if none was.
        outcome: `answered`, the fault's kind, `refused` (by the server itself), `left` (the client went away),
            or `""` while it is open.
    """

    request: SeenRequest
    started_s: float
    in_flight: int
    ended_s: float | None = None
    status: int | None = None
    outcome: str = ""

    @property
    def seconds(self) -> float:
        """How long it took; infinite while it is open."""
        return float("inf") if self.ended_s is None else self.ended_s - self.started_s


Matches = Callable[[Exchange], bool]


@dataclass(slots=True)
class RequestLog:
    """All exchanges of a server, in order of arrival. Safe to read from any thread.

    Attributes:
        keep_text: Keep messages and bodies; without them a log of many thousand requests stays small.
    """

    keep_text: bool = True
    _exchanges: list[Exchange] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _in_flight: int = 0
    _max_in_flight: int = 0
    _connections: int = 0

    def open(self, request: SeenRequest, started_s: float) -> int:
        """Record an arrival; return the place to `close` it with."""
        if not self.keep_text:
            request = replace(request, messages=(), body={}, schema=None)
        with self._changed:
            self._in_flight += request.wire.is_call
            self._max_in_flight = max(self._max_in_flight, self._in_flight)
            self._exchanges.append(Exchange(request, started_s, self._in_flight))
            self._changed.notify_all()
            return len(self._exchanges) - 1

    def close(self, place: int, outcome: str, status: int | None) -> Exchange:
        """Record how an exchange ended."""
        with self._changed:
            exchange = self._exchanges[place]
            exchange = replace(exchange, ended_s=time.monotonic(), outcome=outcome, status=status)
            self._exchanges[place] = exchange
            self._in_flight -= exchange.request.wire.is_call
            self._changed.notify_all()
            return exchange

    def connected(self, change: int) -> None:
        """Record that a connection was made (1) or lost (-1)."""
        with self._changed:
            self._connections += change
            self._changed.notify_all()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Everything that came, token and model-list requests included."""
        with self._changed:
            return tuple(self._exchanges)

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """The model calls."""
        return tuple(exchange for exchange in self.exchanges if exchange.request.wire.is_call)

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """The requests of the model calls."""
        return tuple(exchange.request for exchange in self.calls)

    @property
    def in_flight(self) -> int:
        """Model calls that are open now."""
        with self._changed:
            return self._in_flight

    @property
    def max_in_flight(self) -> int:
        """Most model calls that were open at once."""
        with self._changed:
            return self._max_in_flight

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        with self._changed:
            return self._connections

    def wait_until_unconnected(self, timeout_s: float = 10.0) -> None:
        """Wait until no connection is open.

        Raises:
            TimeoutError: Some stayed open.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._connections == 0, timeout_s):
                raise TimeoutError(f"{self._connections} connections are still open after {timeout_s:g} s")

    def wait_for(
        self, n: int, *, ended: bool = False, matching: Matches | None = None, timeout_s: float = 10.0
    ) -> tuple[Exchange, ...]:
        """Wait until `n` model calls have come.

        Args:
            n: How many.
            ended: Count only calls that have ended.
            matching: Count only exchanges (of any kind) that this accepts.
            timeout_s: Most seconds to wait.

        Returns:
            The exchanges counted, in order of arrival.

        Raises:
            TimeoutError: They did not come in time.
        """

        def counted() -> tuple[Exchange, ...]:
            chosen = matching if matching is not None else _is_call
            return tuple(x for x in self._exchanges if chosen(x) and (x.ended_s is not None or not ended))

        with self._changed:
            if not self._changed.wait_for(lambda: len(counted()) >= n, timeout_s):
                raise TimeoutError(f"{len(counted())} of {n} requests came within {timeout_s:g} s")
            return counted()


def _is_call(exchange: Exchange) -> bool:
    return exchange.request.wire.is_call
