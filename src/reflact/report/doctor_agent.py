"""Doctor: an agent's program is there, what confines it works, and its model answers one short call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.harness.agent_students import try_agent
from reflact.harness.registry import connect_student
from reflact.models.protocol import CallError
from reflact.models.unavailable import key_variable
from reflact.relay import own_request
from reflact.relay.upstream import Upstream
from reflact.report.doctor import Check, attempt, ok, warning
from reflact.report.doctor_models import ASKED, TIMEOUT_S, TOKENS, ask, check_access, no_answer, time_taken
from reflact.report.text import clean


def check_agent(config: Config) -> Iterator[Check]:
    """Check program, confinement, endpoint and login of an agent, and ask its model as the program would."""
    yield from check_access(config, Role.STUDENT)
    model = connect_student(config)
    assert isinstance(model, Upstream)
    info, settings = model.info, model.info.settings
    yield ok("student", f"{clean(settings['cli'], 100)} ({clean(settings['client'], 40)})")
    yield from attempt("sandbox", lambda: _check_confined(config, str(settings["sandbox"])))
    where = f"{clean(info.model, 80)} at {clean(info.endpoint, 200)}"
    effort = config.model.codex_exec_reasoning_effort  # Claude Code has names of its own for efforts
    began = time.monotonic()
    try:
        reply = asyncio.run(ask(model, own_request(model, ASKED, TOKENS, TIMEOUT_S, effort)))
    except CallError as error:
        yield no_answer("student", where, error, key_variable(info.backend))
        return
    yield ok("student", f"{where} answers, {time_taken(began)}, {reply.usage.tokens} tokens")


def _check_confined(config: Config, sandbox: str) -> Iterator[Check]:
    """Try what confines the agent here, Codex's own sandbox included."""
    warned = asyncio.run(try_agent(config))
    if sandbox == "unsandboxed":
        yield warning("sandbox", "agents are not confined here: install bubblewrap, or see env.sandbox")
    else:
        yield ok("sandbox", f"agents are confined by {clean(sandbox, 40)}")
    if warned:
        yield warning("sandbox", clean(warned, 600))
