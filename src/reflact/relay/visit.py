"""One item's use of the relay: what it may do, what it did, and why it had to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.errors import ReflactError
from reflact.core.usage import Usage
from reflact.models.protocol import CallError, Failure
from reflact.models.work_budget import WorkBudget
from reflact.relay.wires import images_in, texts_in


@dataclass(frozen=True, slots=True)
class Caps:
    """What one item may use; a student's own shell may be able to reach the relay too."""

    requests: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What the first request of an item must hold.

    Attributes:
        skill: The skill's text; blank if there is none.
        images: How many images.
    """

    skill: str = ""
    images: int = 0

    def missing(self, body: Mapping[str, Any]) -> str | None:
        """Return what a request lacks, in words; None if everything is there."""
        skill = self.skill.strip()
        if skill and not any(skill in text for text in texts_in(body)):
            return "the skill's text"
        if self.images and images_in(body) < self.images:
            return "the image" if self.images == 1 else f"{self.images} images"
        return None


@dataclass(slots=True)
class Visit:
    """An item at the relay.

    Attributes:
        nonce: Names it in URLs; nobody else knows it.
        stage: Stage that pays.
        phase: What it is for.
        budget: The item's working time.
        caps: What it may use.
        proof: What its first request must hold.
        alone: The item failed before, so that another failure says nothing about the service.
        alive: Called whenever something passes through, a sign of life.
        requests: Calls that were let through.
        answers: Calls that were answered to their end.
        usage: What they consumed, failed attempts included.
        unknown: Answers that were cut or left, or that said nothing of their tokens, so that nobody counted them.
        finish: Why the last call's answer ended (`stop`, `length`, `content_filter`); `""` if it had none.
        last_error: The last failure that was passed on.
        error: Why it ended, if a call failed for good in a way that no repetition by the program can mend.
        stop: Why the whole run has to stop.
        capped: Which cap it reached.
        over: Set when the program need not go on.
        open: Requests that are being dealt with.
    """

    nonce: str
    stage: str
    phase: str
    budget: WorkBudget
    caps: Caps
    proof: Proof
    alone: bool = False
    alive: Callable[[], None] = field(default=lambda: None)
    requests: int = 0
    answers: int = 0
    usage: Usage = field(default_factory=Usage)
    unknown: int = 0
    finish: str = ""
    last_error: CallError | None = None
    error: CallError | None = None
    stop: ReflactError | None = None
    capped: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    open: int = 0

    def enter(self, body: Mapping[str, Any]) -> str | None:
        """Ask for leave to make a call; returns why it is refused."""
        if self.over.is_set():
            return "this item has ended"
        if self.requests >= self.caps.requests:
            return self._cap("exec_requests", f"{self.caps.requests} requests")
        if self.usage.tokens >= self.caps.tokens:
            return self._cap("exec_tokens", f"{self.caps.tokens} tokens")
        missing = self.proof.missing(body) if self.requests == 0 else None
        if missing is not None:
            self.end(CallError(Failure.BAD_REQUEST, f"the first request lacks {missing}", cause="not_delivered"))
            return f"the first request lacks {missing}"
        self.requests += 1
        return None

    def failed(self, error: CallError) -> None:
        """Note a failure that is passed on; one that could pass was already repeated as often as it may be."""
        self.last_error, self.finish = error, ""
        if error.failure.retryable:
            self.end(error)

    def end(self, why: CallError | ReflactError | None = None) -> None:
        """Let the program know, by whoever waits for `over`, that it need not go on."""
        if isinstance(why, CallError) and self.error is None:
            self.error = why
        elif isinstance(why, ReflactError) and self.stop is None:
            self.stop = why
        self.over.set()

    def _cap(self, name: str, amount: str) -> str:
        self.capped = name
        self.end()
        return f"this item has used up its {amount}"
