"""Students that are agent programs, from the configuration; imported only for runs that have one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reflact.config.schema import Config
from reflact.confine import Choice, choose
from reflact.core.errors import ConfigError
from reflact.core.events import Emit
from reflact.core.types import Json
from reflact.harness.agent import AgentTask
from reflact.harness.agent_attempt import Starter
from reflact.harness.agent_cli import Access, AgentCli
from reflact.harness.agents import AgentHarness
from reflact.harness.claude_code_exec import EFFORTS, ClaudeCode
from reflact.harness.claude_sdk import ClaudeSdk
from reflact.harness.clients import client_of, program_of
from reflact.harness.codex_exec import Codex
from reflact.harness.codex_sdk import CodexSdk
from reflact.harness.programs import version_of
from reflact.models.caller import Caller
from reflact.models.protocol import ChatModel
from reflact.relay import Relay
from reflact.relay.connect import connect_upstream
from reflact.relay.upstream import Upstream


def make_agent_harness(config: Config, task: AgentTask, caller: Caller, emit: Emit) -> AgentHarness:
    """Make the harness of a run whose student is an agent program.

    Args:
        config: The configuration.
        task: The benchmark.
        caller: Reaches the program's model, which is one of `connect_agent`.
        emit: Where events go.

    Raises:
        Unavailable: The agent program or the confinement that is asked for is missing.
    """
    upstream = caller.model
    assert isinstance(upstream, Upstream)
    choice = choose(config.env.sandbox)
    env, relayed = config.env, config.model.exec_relay
    first_s = env.exec_timeout if env.call_timeout is None else env.call_timeout
    starter = Starter(
        cli=_cli(config, choice),
        confinement=choice.confinement,
        relay=Relay(caller, upstream, first_s) if relayed else None,
        direct=None if relayed else _direct(upstream),
        wire=upstream.service.wire,
        idle_s=env.idle_timeout,
        clock=caller.clock,
        network=_network(config),
    )
    return AgentHarness(task, caller, config, starter, choice, emit, caller.clock)


def connect_agent(config: Config) -> ChatModel:
    """Connect to the model that an agent program asks.

    Raises:
        ConfigError: It does not take a setting.
        Unavailable: Its endpoint, credential or program is missing.
    """
    choice = choose(config.env.sandbox)
    settings = {
        "client": client_of(config, choice),
        "cli": version_of(program_of(config)),
        "relay": config.model.exec_relay,
        "sandbox": choice.record,
        **_own_settings(config),
    }
    return connect_upstream(config, settings)


async def try_agent(config: Config) -> str:
    """Try, as a run does before its first item, what confines an agent program here; returns a warning or `""`.

    Raises:
        Unavailable: What was asked for does not work here.
    """
    choice = choose(config.env.sandbox)
    return await _cli(config, choice).settle(choice.confinement)


def _own_settings(config: Config) -> dict[str, Json]:
    model = config.model
    if config.model.student_backend == "codex_exec":
        return {
            "reasoning_effort": model.codex_exec_reasoning_effort,
            "codex_sandbox": model.codex_exec_sandbox,
            "network_access": model.codex_exec_network_access,
            "web_search": model.codex_exec_web_search,
        }
    effort = model.student_reasoning_effort
    if effort is not None and effort not in EFFORTS:
        raise ConfigError(
            f"model.student_reasoning_effort={effort}: Claude Code takes {', '.join(EFFORTS)}, or null for its own"
        )
    return {
        "reasoning_effort": effort,
        "network_access": model.claude_code_exec_network_access,
        "web_search": model.claude_code_exec_web_search,
    }


def _network(config: Config) -> bool:
    if config.model.student_backend == "codex_exec":
        return config.model.codex_exec_network_access
    return config.model.claude_code_exec_network_access


def _cli(config: Config, choice: Choice) -> AgentCli:
    program, by_cli = program_of(config), client_of(config, choice) == "cli"
    if config.model.student_backend == "codex_exec":
        return Codex(program, config.model) if by_cli else CodexSdk(program, config.model)
    return ClaudeCode(program, config) if by_cli else ClaudeSdk(program, config)


def _direct(upstream: Upstream) -> Callable[[], Awaitable[Access]]:
    """Return what gives a program the real address and credential, a token that was renewed in time."""

    async def access() -> Access:
        headers = await upstream.service.authorise()
        name, value = next(iter(headers.items()))
        service = upstream.service
        key = value.removeprefix("Bearer ")
        return Access(service.url, key, name.lower(), direct=True, query=service.query, fleeting=service.fleeting)

    return access
