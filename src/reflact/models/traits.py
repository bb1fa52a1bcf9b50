"""What a server turns out not to take, learnt from its 400s and kept for the life of a client.

OpenAI-compatible servers and successive models differ in the parameters they take. Asking first is impossible, so a
request is sent as configured; a refusal that names a parameter removes it, once for all calls.
"""

from __future__ import annotations

import re
from enum import StrEnum

from reflact.models.classify import Problem


class Trait(StrEnum):
    """A peculiarity of a server or model; the value is what is said about it."""

    OLD_TOKEN_CAP = "takes `max_tokens` instead of `max_completion_tokens`"
    NO_EFFORT = "takes no reasoning effort: the configured one is not sent"
    NO_TEMPERATURE = "takes no temperature: the configured one is not sent"
    NO_STOP = "takes no stop texts: they are not sent"
    NO_SCHEMA = "cannot enforce a JSON schema: it is put into the prompt"
    RESPONSES_ONLY = "answers only through the Responses API: it is used"


_ONLY_RESPONSES = re.compile(
    r"only supported in v1/responses|use the responses api|(use|try) .{0,20}v1/responses|not a chat model"
    r"|chatcompletion operation (does not work|is not supported)|operationnotsupported",
    re.I,
)
_OBJECTION = re.compile(
    r"unsupported|unrecognized|unrecognised|unknown|unexpected|not support|not permitted|not allowed|not available"
    r"|extra (inputs|fields)|extra_forbidden|invalid|deprecated|only the default|incompatible",
    re.I,
)
# In order: a message about one parameter may name another as its replacement.
_PARAMETERS: tuple[tuple[Trait, re.Pattern[str]], ...] = (
    (Trait.NO_EFFORT, re.compile(r"reasoning_effort|reasoning\.effort|\breasoning\b|\beffort\b", re.I)),
    (Trait.NO_TEMPERATURE, re.compile(r"temperature", re.I)),
    (Trait.OLD_TOKEN_CAP, re.compile(r"max_completion_tokens", re.I)),
    (Trait.NO_SCHEMA, re.compile(r"response_format|json_schema|text\.format|structured output", re.I)),
    (Trait.NO_STOP, re.compile(r"['\"`]?\bstop\b['\"`]?", re.I)),
)


def trait_behind(problem: Problem, sent: frozenset[Trait], known: frozenset[Trait]) -> Trait | None:
    """Tell which trait explains a refusal.

    Args:
        problem: The refusal.
        sent: Traits that would have changed the refused request; no other one can explain it.
        known: Traits that the request already allowed for.
    """
    candidates = sent - known
    if Trait.RESPONSES_ONLY in candidates and problem.status in (400, 404) and _ONLY_RESPONSES.search(problem.text):
        return Trait.RESPONSES_ONLY
    if problem.status not in (400, 422) or not _OBJECTION.search(problem.text):
        return None
    for trait, pattern in _PARAMETERS:
        if trait in candidates and problem.param and pattern.search(problem.param):
            return trait
    if problem.param:
        return None
    return next((trait for trait, name in _PARAMETERS if trait in candidates and name.search(problem.message)), None)


def is_unknown_value(problem: Problem) -> bool:
    """Whether the server takes the parameter but not the value."""
    return bool(re.search(r"unsupported_value|unsupported value|invalid value|invalid_value", problem.text, re.I))
