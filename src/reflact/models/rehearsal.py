"""Backend `rehearsal`: a simulated model, for going through a whole study in minutes without a key.

A simulated student succeeds on an item iff `u(seed, item, repeat, skill) < p(item, rules that the skill holds)`. The
number u is a hash, so concurrency and order change nothing, and every new skill text draws new luck, as with a
real model: an edit that does nothing can still win at the gate.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter

from reflact.config.operation import RehearsalConfig
from reflact.config.schema import Config
from reflact.core.hashing import digest, text_digest
from reflact.core.names import Role
from reflact.core.types import Rule
from reflact.core.usage import Usage
from reflact.models.chance import chance
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, ModelInfo, Simulation

BASE = 0.25
"""Probability of success under a skill that holds no rule."""
FLOOR, CEILING = 0.02, 0.95
CHARS_PER_TOKEN = 4
RETRY_AFTER_S = 0.05
"""What a simulated 429 asks to wait, in seconds: long enough to be seen, short enough for a rehearsal."""
_EMPTY_BLOCK = re.compile(r"<!-- reflact:[\w-]+:start -->\s*<!-- reflact:[\w-]+:end -->")


def connect(config: Config, role: Role) -> RehearsalModel:
    """Return the simulated model of a role."""
    return RehearsalModel(config.rehearsal, config.model.student if role is Role.STUDENT else config.model.teacher)


def skill_key(skill: str) -> str:
    """Hash a skill so that an empty protected block and blanks around it make no difference."""
    return text_digest(" ".join(_EMPTY_BLOCK.sub(" ", skill).split()))


def held_rules(skill: str, rules: tuple[Rule, ...], task_type: str) -> tuple[Rule, ...]:
    """Return the rules that concern a task type and stand in the skill."""
    return tuple(rule for rule in rules if rule.text in skill and (not rule.task_types or task_type in rule.task_types))


def success_probability(skill: str, rules: tuple[Rule, ...], task_type: str) -> float:
    """Return the probability of success on an item of a task type."""
    return min(CEILING, max(FLOOR, BASE + math.fsum(rule.gain for rule in held_rules(skill, rules, task_type))))


class RehearsalModel:
    """A simulated chat model; without `ChatRequest.simulation` it acknowledges and nothing more."""

    supports_prefill = False

    def __init__(self, settings: RehearsalConfig, model: str) -> None:
        self._settings = settings
        self.info = ModelInfo(
            backend="rehearsal", model=model, simulated=True, settings={"seed": settings.seed, "base": BASE}
        )
        # Attempts of requests that are still without a full answer: a repeated attempt must draw anew.
        self._attempts: Counter[str] = Counter()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one simulated attempt."""
        key = _request_key(request)
        self._attempts[key] += 1
        attempt = self._attempts[key]
        await self._wait(request, key, attempt)
        self._fail(key, attempt)
        if self._draw("empty", key, attempt) < self._settings.empty_rate:
            return ChatReply("", "length", _usage(request, request.max_completion_tokens), self.info.model)
        del self._attempts[key]
        text = self._answer(request.simulation) if request.simulation else "Understood."
        return ChatReply(text, "stop", _usage(request, _tokens(text)), self.info.model)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _draw(self, what: str, key: str, attempt: int) -> float:
        return chance(self._settings.seed, what, key, attempt)

    async def _wait(self, request: ChatRequest, key: str, attempt: int) -> None:
        """Take as long as a call would: between half and one and a half of the mean."""
        seconds = self._settings.latency_s * (0.5 + self._draw("latency", key, attempt))
        await asyncio.sleep(min(seconds, request.timeout_s))
        if seconds > request.timeout_s:
            raise CallError(Failure.NO_ANSWER, f"no answer within {request.timeout_s:g} s (simulated)")

    def _fail(self, key: str, attempt: int) -> None:
        draw = self._draw("failure", key, attempt)
        if draw < self._settings.rate_limit_rate:
            raise CallError(
                Failure.RATE_LIMIT, "too many requests (simulated)", status=429, retry_after_s=RETRY_AFTER_S
            )
        if draw < self._settings.rate_limit_rate + self._settings.server_error_rate:
            raise CallError(Failure.SERVER, "internal error (simulated)", status=500)

    def _answer(self, simulation: Simulation) -> str:
        luck = chance(self._settings.seed, simulation.item_id, simulation.repeat, skill_key(simulation.skill))
        return simulation.rehearse(luck < success_probability(simulation.skill, simulation.rules, simulation.task_type))


def _request_key(request: ChatRequest) -> str:
    simulation = request.simulation
    who = (simulation.item_id, simulation.repeat, skill_key(simulation.skill)) if simulation else ()
    return digest([who, [[message.role, message.content] for message in request.messages]])


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def _usage(request: ChatRequest, completion: int) -> Usage:
    prompt = sum(_tokens(message.content) for message in request.messages)
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)
