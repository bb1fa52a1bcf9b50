"""Servers that do not know everything: a wrapper around any responder."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

from reflact.testing.exchange import Answer, Fault, FaultKind, Responder, SeenRequest, Wire


@dataclass(frozen=True, slots=True)
class Picky:
    """Refuses what a server does not support and leaves the rest to `responder`.

    Attributes:
        responder: Answers what is supported.
        rejected: Parameters that are refused (`max_tokens`, `temperature`, `reasoning_effort`).
        schemas: Whether structured output is supported.
        only_responses: Chat Completions are refused, as by deployments that only have the Responses API.
    """

    responder: Responder
    rejected: tuple[str, ...] = ()
    schemas: bool = True
    only_responses: bool = False

    def __call__(self, seen: SeenRequest) -> Answer | Awaitable[Answer]:
        """Answer a request."""
        if self.only_responses and seen.wire is Wire.CHAT:
            return Fault(FaultKind.ONLY_RESPONSES)
        for parameter in self.rejected:
            if parameter in seen.body:
                return Fault.reject(parameter)
        if not self.schemas and seen.schema is not None:
            return Fault(FaultKind.REJECT_SCHEMA)
        return self.responder(seen)
