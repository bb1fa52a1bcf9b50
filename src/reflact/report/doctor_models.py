"""Doctor: each role's model answers one short call; the programs of agents are there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from reflact.config.schema import Config
from reflact.core.errors import ExitCode
from reflact.core.names import Role
from reflact.models.agent_endpoints import AGENTS
from reflact.models.limit_making import limits_shown
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure, Message
from reflact.models.registry import connect_role, endpoint_of, limit_key
from reflact.models.unavailable import key_variable
from reflact.report.doctor import Check, attempt, failed, ok, warning
from reflact.report.text import clean, duration

TEMPLATE = "template"
ASKED = "Reply with the single word: ready"
TIMEOUT_S = 90.0
TOKENS = 512
TRIES = 2
NO_SERVICE = frozenset(
    {Failure.AUTH, Failure.NOT_FOUND, Failure.QUOTA, Failure.CONNECTION, Failure.SERVER, Failure.NO_ANSWER}
)


def check_models(config: Config) -> Iterator[Check]:
    """Check student and teacher; a model that both share is asked once a role, since settings may differ."""
    if config.model.student_backend in AGENTS:
        # What agents need takes longer to load than anything else here.
        from reflact.report.doctor_agent import check_agent

        yield from attempt("student", lambda: check_agent(config))
    else:
        yield from attempt("student", lambda: _check_role(config, Role.STUDENT))
    if config.model.teacher_backend == TEMPLATE:
        yield ok("teacher", "the template teacher needs no model")
    else:
        yield from attempt("teacher", lambda: _check_role(config, Role.TEACHER))


def check_access(config: Config, role: Role) -> Iterator[Check]:
    """Say which credential is used and which limits hold; neither asks anybody."""
    endpoint = endpoint_of(config, role)
    if endpoint is None:
        return
    yield ok("login", f"{role}: {endpoint.way_in}, at {clean(endpoint.public_url, 200)}")
    yield ok("limits", f"{role}: {clean(limits_shown(limit_key(config, role), config.limits), 400)}")


def _check_role(config: Config, role: Role) -> Iterator[Check]:
    name = str(role)
    yield from check_access(config, role)
    model = connect_role(config, role)
    info = model.info
    where = f"{clean(info.model, 80)}{f' at {clean(info.endpoint, 200)}' if info.endpoint else ''}"
    if info.simulated:
        where += " (simulated)"
    request = ChatRequest(messages=(Message("user", ASKED),), max_completion_tokens=TOKENS, timeout_s=TIMEOUT_S)
    began = time.monotonic()
    try:
        reply = asyncio.run(ask(model, request))
    except CallError as error:
        yield no_answer(name, where, error, key_variable(info.backend))
        return
    for note in reply.notes:
        yield warning(name, f"{where}: {clean(note, 600)}")
    took = time_taken(began)
    if reply.text.strip():
        yield ok(name, f"{where} answers, {took}, {reply.usage.tokens} tokens")
    else:
        yield warning(
            name,
            f"{where} gives an empty reply ({clean(reply.finish_reason, 40) or 'no reason given'}), {took}, "
            f"{reply.usage.completion_tokens} tokens written: hidden reasoning may eat the cap; see with --probe 8",
        )


def time_taken(began: float) -> str:
    """Return how long something took, as text."""
    took_s = time.monotonic() - began
    return duration(took_s) if took_s >= 1 else "under 1 s"


async def ask(model: ChatModel, request: ChatRequest) -> ChatReply:
    """Ask once, and once more if that can help; the model is released."""
    try:
        for tried in range(1, TRIES + 1):
            try:
                return await model.complete(request)
            except CallError as error:
                if tried == TRIES or not error.failure.retryable:
                    raise
                await asyncio.sleep(min(error.retry_after_s or 1.0, 10.0))
        raise AssertionError("the last try returns or raises")
    finally:
        await model.aclose()


def no_answer(name: str, where: str, error: CallError, key_env: str) -> Check:
    """Say why a model gave no answer, and what to do."""
    status = f", status {error.status}" if error.status is not None else ""
    said = clean(error, 600).rstrip(".")
    kind = f"{error.failure.value.replace('_', ' ')}{status}"
    # Without a connection the text says so itself.
    text = f"{where}: {said}" if error.failure is Failure.CONNECTION else f"{where}: {kind}: {said}"
    if error.failure is Failure.RATE_LIMIT:
        return warning(name, f"{text}. The service is there, but has no room now: expect waiting")
    advice = ADVICE.get(error.failure, "").format(key_env=key_env)
    code = ExitCode.UNAVAILABLE if error.failure in NO_SERVICE else ExitCode.USAGE
    return failed(name, f"{text}.{f' {advice}' if advice else ''}", code)


ADVICE = {
    Failure.AUTH: (
        "Look at the key (in {key_env}, on Azure AZURE_OPENAI_API_KEY, or the variable that the role's "
        "api_key_env names), the auth mode and the role of the identity on that resource."
    ),
    Failure.NOT_FOUND: "Look at the name of the model or deployment and at the API version.",
    Failure.QUOTA: "The quota of this key is used up.",
    Failure.CONNECTION: "Look at the endpoint and the network.",
    Failure.SERVER: "The service has trouble: try again later.",
    Failure.NO_ANSWER: "The service did not answer in time: try again later.",
    Failure.BAD_REQUEST: "The model does not take these settings (reasoning effort, temperature, API).",
}
